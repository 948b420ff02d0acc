#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>

#include "base/text/escape.h"
#include "dataflow/sdf3.h"
#include "dataflow/sdf3_numbers.h"

namespace millrace::dataflow {
namespace {

bool is_one(std::int64_t rate) { return rate == 1; }

/// Whether the channel lets only one firing of its actor run at a time.
bool keeps_order(const Channel& channel) {
  return channel.from == channel.to && channel.initial_tokens == 1 &&
         std::all_of(channel.production.begin(), channel.production.end(), is_one) &&
         std::all_of(channel.consumption.begin(), channel.consumption.end(), is_one);
}

/// The same graph with every actor concurrent.
Graph with_self_channels(Graph graph) {
  for (std::size_t a = 0; a < graph.actors.size(); ++a) {
    Actor& actor = graph.actors[a];
    const bool there = std::any_of(
        graph.channels.begin(), graph.channels.end(),
        [&](const Channel& channel) { return channel.from.index == a && keeps_order(channel); });
    if (actor.concurrent || there) continue;
    const std::vector<std::int64_t> ones(actor.times.size(), 1);
    graph.add_channel(
        {fmt::format("{} one at a time", actor.name), ActorId(a), ActorId(a), ones, ones, 1});
  }
  return graph;
}

/// Channels of plans may have equal names, those of a file may not.
std::string unique_name(const Graph& graph, std::size_t channel) {
  const std::string& name = graph.channels[channel].name;
  const bool taken =
      std::any_of(graph.channels.begin(), graph.channels.end(), [&](const Channel& other) {
        return &other != &graph.channels[channel] && other.name == name;
      });
  return taken || name.empty() ? fmt::format("{} #{}", name, channel) : name;
}

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph) {
    for (std::size_t c = 0; c < graph.channels.size(); ++c) names_.push_back(unique_name(graph, c));
  }

  std::string text() {
    const bool cyclic = std::any_of(graph_.actors.begin(), graph_.actors.end(),
                                    [](const Actor& actor) { return actor.times.size() > 1; });
    const std::string kind = cyclic ? "csdf" : "sdf";
    auto root = document_.append_child("sdf3");
    set(root, "type", kind);
    set(root, "version", "1.0");
    auto application = root.append_child("applicationGraph");
    set(application, "name", graph_.name);
    add_body(application.append_child(kind.c_str()));
    add_properties(application.append_child((kind + "Properties").c_str()));
    std::ostringstream out;
    document_.save(out, "  ", pugi::format_indent | pugi::format_no_escapes);
    return out.str();
  }

 private:
  static void set(pugi::xml_node node, const char* attribute, const std::string& value) {
    node.append_attribute(attribute).set_value(xml_text(value).c_str());
  }

  void add_body(pugi::xml_node body) {
    set(body, "name", graph_.name);
    set(body, "type", graph_.name);
    std::vector<pugi::xml_node> actors;
    for (const Actor& actor : graph_.actors) {
      actors.push_back(body.append_child("actor"));
      set(actors.back(), "name", actor.name);
      set(actors.back(), "type", actor.name);
    }
    for (std::size_t c = 0; c < graph_.channels.size(); ++c) {
      const Channel& channel = graph_.channels[c];
      add_port(actors[channel.from.index], fmt::format("out{}", c), "out", channel.production);
      add_port(actors[channel.to.index], fmt::format("in{}", c), "in", channel.consumption);
      auto node = body.append_child("channel");
      set(node, "name", names_[c]);
      set(node, "srcActor", graph_[channel.from].name);
      set(node, "srcPort", fmt::format("out{}", c));
      set(node, "dstActor", graph_[channel.to].name);
      set(node, "dstPort", fmt::format("in{}", c));
      if (channel.initial_tokens > 0)
        set(node, "initialTokens", fmt::to_string(channel.initial_tokens));
    }
  }

  static void add_port(pugi::xml_node actor, const std::string& name, const char* type,
                       const std::vector<std::int64_t>& rates) {
    auto port = actor.append_child("port");
    set(port, "name", name);
    set(port, "type", type);
    set(port, "rate", sequence_text(rates));
  }

  void add_properties(pugi::xml_node properties) {
    for (const Actor& actor : graph_.actors) {
      std::vector<std::int64_t> times;
      for (Time time : actor.times) times.push_back(time.count());
      auto node = properties.append_child("actorProperties");
      set(node, "actor", actor.name);
      auto processor = node.append_child("processor");
      set(processor, "type", "processor");
      set(processor, "default", "true");
      set(processor.append_child("executionTime"), "time", sequence_text(times));
    }
    for (std::size_t c = 0; c < graph_.channels.size(); ++c) {
      if (graph_.channels[c].token_bits == 0) continue;
      auto node = properties.append_child("channelProperties");
      set(node, "channel", names_[c]);
      set(node.append_child("tokenSize"), "sz", fmt::to_string(graph_.channels[c].token_bits));
    }
    properties.append_child("graphProperties");
  }

  const Graph& graph_;
  std::vector<std::string> names_;
  pugi::xml_document document_;
};

}  // namespace

std::string to_sdf3(const Graph& graph) {
  const Graph concurrent = with_self_channels(graph);
  return Writer(concurrent).text();
}

}  // namespace millrace::dataflow
