#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <pugixml.hpp>

#include "base/file.h"
#include "dataflow/checked.h"
#include "dataflow/sdf3.h"
#include "dataflow/sdf3_numbers.h"

namespace millrace::dataflow {
namespace {

constexpr std::size_t most_phases = 16'000'000;  // of all actors, in all rates and times

struct Port {
  bool out = false;
  std::vector<std::int64_t> rates;
};

/// An actor as the file has it, before all parts are known.
struct Draft {
  std::map<std::string, Port> ports;
  std::optional<Sequence> times;
  std::vector<std::pair<std::string, Sequence>> by_type = {};  // of processors
  std::size_t phases = 1;
};

class Reader {
 public:
  Reader(const pugi::xml_document& document, const std::string& file)
      : document_(document), file_(file) {}

  Sdf3File read() {
    const pugi::xml_node application = application_graph();
    const pugi::xml_node body = body_of(application);
    result_.graph.name = body.attribute("name").as_string(file_.c_str());
    for (const auto& actor : body.children("actor")) add_actor(actor);
    if (drafts_.empty()) throw InputError(file_, "has no actors; a graph needs at least one");
    for (const auto& properties : application.children())
      if (is_one_of(properties.name(), {"sdfProperties", "csdfProperties"})) read_times(properties);
    complete_actors();
    for (const auto& channel : body.children("channel")) add_channel(channel);
    for (const auto& properties : application.children())
      if (is_one_of(properties.name(), {"sdfProperties", "csdfProperties"})) read_sizes(properties);
    validate(result_.graph);
    return std::move(result_);
  }

 private:
  static bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  std::string at_actor(const std::string& name) const {
    return fmt::format("{}: actor '{}'", file_, name);
  }
  std::string at_channel(const std::string& name) const {
    return fmt::format("{}: channel '{}'", file_, name);
  }

  pugi::xml_node application_graph() const {
    const pugi::xml_node root = document_.document_element();
    if (std::string_view(root.name()) != "sdf3")
      throw InputError(file_, fmt::format("found the element <{}>, expected SDF3's <sdf3>; this is "
                                          "another tool's format",
                                          root.name()));
    const std::string_view type = root.attribute("type").as_string();
    if (!is_one_of(type, {"sdf", "csdf"}))
      throw InputError(file_, fmt::format("found an SDF3 file of the type '{}', expected 'sdf' or "
                                          "'csdf'",
                                          type));
    const pugi::xml_node application = root.child("applicationGraph");
    if (!application)
      throw InputError(file_, "has no <applicationGraph>, so it describes no graph");
    return application;
  }

  pugi::xml_node body_of(const pugi::xml_node& application) const {
    for (const auto& node : application.children())
      if (is_one_of(node.name(), {"sdf", "csdf"})) return node;
    throw InputError(file_, "its <applicationGraph> has neither an <sdf> nor a <csdf>");
  }

  /// The attribute's text. InputError if it is missing.
  std::string needed(const pugi::xml_node& node, const char* attribute,
                     const std::string& place) const {
    if (!node.attribute(attribute))
      throw InputError(place, fmt::format("its <{}> has no '{}'; add it", node.name(), attribute));
    return node.attribute(attribute).as_string();
  }

  void count_phases(std::size_t count) {
    phases_ += count;
    if (phases_ > most_phases)
      throw InputError(file_,
                       fmt::format("its rates and times are more than {} numbers", most_phases));
  }

  void add_actor(const pugi::xml_node& node) {
    const std::string name = needed(node, "name", file_), place = at_actor(name);
    if (actors_.contains(name))
      throw InputError(place, "is there twice; each actor needs a name of its own");
    actors_[name] = result_.graph.add_actor({name, {}, true});
    Draft& draft = drafts_.emplace_back();
    for (const auto& port : node.children("port")) add_port(draft, port, place);
  }

  void add_port(Draft& draft, const pugi::xml_node& node, const std::string& actor) {
    const std::string name = needed(node, "name", actor);
    const std::string place = fmt::format("{}, port '{}'", actor, name);
    const std::string type = needed(node, "type", place);
    if (type != "in" && type != "out")
      throw InputError(place, fmt::format("found the type '{}', expected 'in' or 'out'", type));
    const Sequence rates = parse_sequence(needed(node, "rate", place), {"rate"}, place);
    if (std::all_of(rates.digits.begin(), rates.digits.end(), [](auto rate) { return rate == 0; }))
      throw InputError(place,
                       "its rate is 0, so it never carries a token; expected at least one "
                       "token in some phase");
    count_phases(rates.digits.size());
    if (!draft.ports.emplace(name, Port{type == "out", rates.digits}).second)
      throw InputError(place, "is there twice; each port needs a name of its own");
    draft.phases = std::max(draft.phases, rates.digits.size());
  }

  void read_times(const pugi::xml_node& properties) {
    for (const auto& node : properties.children("actorProperties")) {
      const std::string name = needed(node, "actor", file_), place = at_actor(name);
      const auto actor = actors_.find(name);
      if (actor == actors_.end())
        throw InputError(place, "has properties, but there is no such actor");
      Draft& draft = drafts_[actor->second.index];
      read_times_by_type(node, draft, place);
      const std::string text = time_text(node, place);
      if (text.empty()) continue;
      draft.times = parse_sequence(text, {"execution time", true}, place);
      count_phases(draft.times->digits.size());
      draft.phases = std::max(draft.phases, draft.times->digits.size());
      for (int decimals : draft.times->decimals) decimals_ = std::max(decimals_, decimals);
    }
  }

  void read_times_by_type(const pugi::xml_node& properties, Draft& draft,
                          const std::string& place) {
    for (const auto& processor : properties.children("processor")) {
      const pugi::xml_node time = processor.child("executionTime");
      if (!processor.attribute("type") || !time) continue;
      draft.by_type.emplace_back(
          processor.attribute("type").as_string(),
          parse_sequence(needed(time, "time", place), {"execution time", true}, place));
      const Sequence& times = draft.by_type.back().second;
      count_phases(times.digits.size());
      for (int decimals : times.decimals) decimals_ = std::max(decimals_, decimals);
    }
  }

  /// Time on the default processor: the last of several, as in SDF3; a single one needs no mark.
  std::string time_text(const pugi::xml_node& properties, const std::string& place) const {
    pugi::xml_node chosen;
    const auto processors = properties.children("processor");
    for (const auto& processor : processors)
      if (processor.attribute("default").as_bool()) chosen = processor;
    const auto count = std::distance(processors.begin(), processors.end());
    if (count == 0) return "";
    if (!chosen && count > 1)
      throw InputError(place,
                       fmt::format("has {} processors, none with default='true'; mark one", count));
    if (!chosen) chosen = *processors.begin();
    const pugi::xml_node time = chosen.child("executionTime");
    return time ? needed(time, "time", place) : "";
  }

  /// One rate or time stands for all phases.
  static void stretch(std::vector<std::int64_t>& values, std::size_t phases) {
    if (values.size() == 1) values.resize(phases, values.front());
  }

  void complete_actors() {
    for (int i = 0; i < decimals_; ++i) result_.ticks *= 10;
    for (std::size_t a = 0; a < drafts_.size(); ++a) {
      Draft& draft = drafts_[a];
      Actor& actor = result_.graph.actors[a];
      const std::string place = at_actor(actor.name);
      if (!draft.times) {
        result_.notes.push_back(fmt::format("{}: has no execution time; taken as 0", place));
        draft.times = Sequence{{0}, {0}};
      }
      std::vector<std::int64_t> times = draft.times->scaled(decimals_, place);
      check_length(times, draft.phases, "execution times", place);
      stretch(times, draft.phases);
      count_phases(draft.phases * (1 + draft.ports.size()));
      for (std::int64_t time : times) actor.times.emplace_back(time);
      auto& by_type = result_.times_by_type.emplace_back();
      for (const auto& [type, sequence] : draft.by_type)
        by_type.emplace_back(type, sequence.scaled(decimals_, place).front());
      for (auto& [name, port] : draft.ports) {
        check_length(port.rates, draft.phases, "rates", fmt::format("{}, port '{}'", place, name));
        stretch(port.rates, draft.phases);
      }
    }
  }

  static void check_length(const std::vector<std::int64_t>& values, std::size_t phases,
                           const char* what, const std::string& place) {
    if (values.size() == 1 || values.size() == phases) return;
    throw InputError(place, fmt::format("found {} {}, but the actor has {} phases; give one for "
                                        "each phase, or one for all",
                                        values.size(), what, phases));
  }

  struct End {
    ActorId actor;
    std::vector<std::int64_t> rates;
  };

  End end_of(const pugi::xml_node& channel, bool source, const std::string& place) const {
    const std::string name = needed(channel, source ? "srcActor" : "dstActor", place);
    const std::string port_name = needed(channel, source ? "srcPort" : "dstPort", place);
    const auto actor = actors_.find(name);
    if (actor == actors_.end())
      throw InputError(place, fmt::format("{} actor '{}', but there is no such actor",
                                          source ? "begins at" : "ends at", name));
    const auto& ports = drafts_[actor->second.index].ports;
    const auto port = ports.find(port_name);
    if (port == ports.end())
      throw InputError(place, fmt::format("{} port '{}' of actor '{}', but there is no such port",
                                          source ? "begins at" : "ends at", port_name, name));
    if (port->second.out != source)
      throw InputError(place, fmt::format("{} port '{}' of actor '{}', which has the type '{}'",
                                          source ? "begins at" : "ends at", port_name, name,
                                          port->second.out ? "out" : "in"));
    return {actor->second, port->second.rates};
  }

  void add_channel(const pugi::xml_node& node) {
    const std::string name = needed(node, "name", file_), place = at_channel(name);
    const End from = end_of(node, true, place), to = end_of(node, false, place);
    const std::string tokens = node.attribute("initialTokens").as_string("0");
    const ChannelId id =
        result_.graph.add_channel({name, from.actor, to.actor, from.rates, to.rates,
                                   parse_count(tokens, "number of initial tokens", place)});
    if (!channels_.emplace(name, id).second)
      throw InputError(place, "is there twice; each channel needs a name of its own");
  }

  void read_sizes(const pugi::xml_node& properties) {
    for (const auto& node : properties.children("channelProperties")) {
      const std::string name = needed(node, "channel", file_), place = at_channel(name);
      const auto channel = channels_.find(name);
      if (channel == channels_.end())
        throw InputError(place, "has properties, but there is no such channel");
      if (const auto size = node.child("tokenSize"))
        result_.graph.channels[channel->second.index].token_bits =
            parse_count(needed(size, "sz", place), "token size", place);
    }
  }

  const pugi::xml_document& document_;
  const std::string& file_;
  Sdf3File result_;
  std::vector<Draft> drafts_;  // per actor
  std::map<std::string, ActorId> actors_;
  std::map<std::string, ChannelId> channels_;
  std::size_t phases_ = 0;
  int decimals_ = 0;
};

}  // namespace

Sdf3File parse_sdf3(const std::string& text, const std::string& file) {
  pugi::xml_document document;
  const auto parsed = document.load_buffer(text.data(), text.size());
  if (!parsed) {
    const auto end = text.begin() + std::clamp<std::ptrdiff_t>(
                                        parsed.offset, 0, static_cast<std::ptrdiff_t>(text.size()));
    throw InputError(fmt::format("{}: line {}", file, 1 + std::count(text.begin(), end, '\n')),
                     fmt::format("is not XML: {}", parsed.description()));
  }
  return Reader(document, file).read();
}

Sdf3File read_sdf3(const std::filesystem::path& path) {
  return parse_sdf3(read_file(path), path.string());
}

}  // namespace millrace::dataflow
