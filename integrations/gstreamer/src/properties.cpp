#include <array>

#include "element.h"

namespace millrace_gst {
namespace {

enum Property : guint {
  property_none,
  property_config,
  property_model,
  property_kind,
  property_head,
  property_labels,
  property_threshold,
  property_plan,
  property_processors,
  property_draw,
  property_post_messages,
  property_qos,
  property_stats,
};

/// A property that is a text.
struct Text {
  guint id;
  const char *name, *nick, *help, *usual;
  std::string MillraceSettings::*place;
};

constexpr std::array<Text, 7> texts{{
    {property_config, "config", "Application", "An application's file (.yaml)", nullptr,
     &MillraceSettings::config},
    {property_model, "model", "Model", "A model (.onnx, .cfg) in place of an application", nullptr,
     &MillraceSettings::model},
    {property_kind, "kind", "Kind", "What a model finds: detect, classify, segment or pose",
     "detect", &MillraceSettings::kind},
    {property_head, "head", "Head", "The form of a model's outputs, if several fit", nullptr,
     &MillraceSettings::head},
    {property_labels, "labels", "Labels",
     "A file with one class name a line, of a model that has no names", nullptr,
     &MillraceSettings::labels},
    {property_plan, "plan", "Plan",
     "The file of a plan for the model (millrace plan); without it one is made for this machine",
     nullptr, &MillraceSettings::plan},
    {property_processors, "processors", "Processors",
     "Of a plan that is made: processors between commas, such as core0,core1; without it all",
     nullptr, &MillraceSettings::processors},
}};

struct Switch {
  guint id;
  const char *name, *nick, *help;
  bool usual;
  bool MillraceSettings::*place;
};

constexpr std::array<Switch, 3> switches{{
    {property_draw, "draw", "Draw", "Draw the findings onto the frames", false,
     &MillraceSettings::draw},
    {property_post_messages, "post-messages", "Post messages",
     "Post a message 'millrace' with the findings as JSON for each frame", true,
     &MillraceSettings::post_messages},
    {property_qos, "qos", "QoS", "Drop frames that come too late for the sink", true,
     &MillraceSettings::qos},
}};

GstStructure* stats_of(GstMillrace* self) {
  const FlowCounts counts = self->flow->counts();
  return gst_structure_new("application/x-millrace-stats", "processed", G_TYPE_UINT64,
                           static_cast<guint64>(counts.processed), "dropped", G_TYPE_UINT64,
                           static_cast<guint64>(counts.dropped), nullptr);
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  GstMillrace* const self = GST_MILLRACE(object);
  GST_OBJECT_LOCK(self);
  bool known = id == property_threshold;
  if (known) self->settings->threshold = g_value_get_double(value);
  for (const Text& each : texts) {
    if (each.id != id) continue;
    const char* const text = g_value_get_string(value);
    self->settings->*each.place = text != nullptr ? text : "";
    known = true;
  }
  for (const Switch& each : switches) {
    if (each.id != id) continue;
    self->settings->*each.place = g_value_get_boolean(value);
    known = true;
  }
  GST_OBJECT_UNLOCK(self);
  if (!known) G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  GstMillrace* const self = GST_MILLRACE(object);
  if (id == property_stats) {
    g_value_take_boxed(value, stats_of(self));
    return;
  }
  GST_OBJECT_LOCK(self);
  bool known = id == property_threshold;
  if (known) g_value_set_double(value, self->settings->threshold);
  for (const Text& each : texts) {
    if (each.id != id) continue;
    const std::string& text = self->settings->*each.place;
    g_value_set_string(value, text.empty() ? nullptr : text.c_str());
    known = true;
  }
  for (const Switch& each : switches) {
    if (each.id != id) continue;
    g_value_set_boolean(value, self->settings->*each.place);
    known = true;
  }
  GST_OBJECT_UNLOCK(self);
  if (!known) G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

}  // namespace

void add_properties(GObjectClass* object_class) {
  constexpr auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                  GST_PARAM_MUTABLE_READY);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  for (const Text& each : texts)
    g_object_class_install_property(
        object_class, each.id,
        g_param_spec_string(each.name, each.nick, each.help, each.usual, flags));
  for (const Switch& each : switches)
    g_object_class_install_property(
        object_class, each.id,
        g_param_spec_boolean(each.name, each.nick, each.help, each.usual, flags));
  g_object_class_install_property(
      object_class, property_threshold,
      g_param_spec_double("threshold", "Threshold", "Of a model: the least probability of a box", 0,
                          1, MillraceSettings{}.threshold, flags));
  g_object_class_install_property(
      object_class, property_stats,
      g_param_spec_boxed("stats", "Statistics", "Frames that were processed and dropped",
                         GST_TYPE_STRUCTURE,
                         static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
}

}  // namespace millrace_gst
