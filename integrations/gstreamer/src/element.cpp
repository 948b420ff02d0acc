#include "element.h"

#include "metas.h"

GST_DEBUG_CATEGORY_STATIC(gst_millrace_debug);
#define GST_CAT_DEFAULT gst_millrace_debug

#define MILLRACE_CAPS GST_VIDEO_CAPS_MAKE("{ RGB, BGR, GRAY8 }")

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(MILLRACE_CAPS));
static GstStaticPadTemplate source_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(MILLRACE_CAPS));

G_DEFINE_TYPE(GstMillrace, gst_millrace, GST_TYPE_ELEMENT)

namespace {

using millrace_gst::Flow;

Flow& flow_of(GstObject* parent) { return *GST_MILLRACE(parent)->flow; }

GstFlowReturn chain(GstPad*, GstObject* parent, GstBuffer* buffer) {
  return flow_of(parent).chain(buffer);
}

gboolean sink_event(GstPad*, GstObject* parent, GstEvent* event) {
  return flow_of(parent).event(event);
}

gboolean sink_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  if (GST_QUERY_IS_SERIALIZED(query)) return flow_of(parent).query(query);
  return gst_pad_query_default(pad, parent, query);
}

gboolean source_event(GstPad* pad, GstObject* parent, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_QOS) flow_of(parent).note_quality(event);
  return gst_pad_event_default(pad, parent, event);
}

gboolean source_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_LATENCY) return flow_of(parent).answer_latency(query);
  return gst_pad_query_default(pad, parent, query);
}

gboolean activate_sink(GstPad*, GstObject* parent, GstPadMode mode, gboolean active) {
  if (mode != GST_PAD_MODE_PUSH) return FALSE;
  if (!active) flow_of(parent).set_flushing(true);
  return TRUE;
}

gboolean activate_source(GstPad*, GstObject* parent, GstPadMode mode, gboolean active) {
  if (mode != GST_PAD_MODE_PUSH) return FALSE;
  return flow_of(parent).activate_source(active);
}

bool start(GstMillrace* self) {
  GST_OBJECT_LOCK(self);
  const MillraceSettings settings = *self->settings;
  GST_OBJECT_UNLOCK(self);
  try {
    self->flow->start(settings);
    return true;
  } catch (const std::exception& error) {
    GST_ELEMENT_ERROR(self, LIBRARY, INIT, ("%s", error.what()), (nullptr));
    return false;
  }
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange change) {
  GstMillrace* const self = GST_MILLRACE(element);
  if (change == GST_STATE_CHANGE_READY_TO_PAUSED && !start(self)) return GST_STATE_CHANGE_FAILURE;
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(gst_millrace_parent_class)->change_state(element, change);
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY) self->flow->stop();
  return result;
}

void finalize(GObject* object) {
  GstMillrace* const self = GST_MILLRACE(object);
  delete self->flow;
  delete self->settings;
  G_OBJECT_CLASS(gst_millrace_parent_class)->finalize(object);
}

}  // namespace

static void gst_millrace_class_init(GstMillraceClass* klass) {
  GstElementClass* const element_class = GST_ELEMENT_CLASS(klass);
  G_OBJECT_CLASS(klass)->finalize = finalize;
  element_class->change_state = change_state;
  millrace_gst::add_properties(G_OBJECT_CLASS(klass));
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &source_template);
  gst_element_class_set_static_metadata(
      element_class, "Neural networks by Millrace", "Filter/Analyzer/Video",
      "Finds objects, classes, poses, segments or text with a network on all processors at once",
      "Millrace maintainers");
  GST_DEBUG_CATEGORY_INIT(gst_millrace_debug, "millrace", 0, "neural networks by Millrace");
  millrace_gst::register_metas();
}

static void gst_millrace_init(GstMillrace* self) {
  self->sink = gst_pad_new_from_static_template(&sink_template, "sink");
  gst_pad_set_chain_function(self->sink, chain);
  gst_pad_set_event_function(self->sink, sink_event);
  gst_pad_set_query_function(self->sink, sink_query);
  gst_pad_set_activatemode_function(self->sink, activate_sink);
  GST_PAD_SET_PROXY_CAPS(self->sink);
  gst_element_add_pad(GST_ELEMENT(self), self->sink);
  self->source = gst_pad_new_from_static_template(&source_template, "src");
  gst_pad_set_event_function(self->source, source_event);
  gst_pad_set_query_function(self->source, source_query);
  gst_pad_set_activatemode_function(self->source, activate_source);
  GST_PAD_SET_PROXY_CAPS(self->source);
  gst_pad_use_fixed_caps(self->source);
  gst_element_add_pad(GST_ELEMENT(self), self->source);
  self->settings = new MillraceSettings;
  self->flow = new millrace_gst::Flow(GST_ELEMENT(self), self->sink, self->source);
}
