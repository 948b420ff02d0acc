// Graphs with known repetition vectors, liveness and periods.
#include <gtest/gtest.h>

#include <map>
#include <pugixml.hpp>
#include <sstream>

#include "base/error.h"
#include "base/json.h"
#include "dataflow/analysis.h"
#include "support/shared.h"

namespace millrace::dataflow {
namespace {

/// "1,18*32": a 1, then 32 eighteen times.
std::vector<std::int64_t> numbers(const std::string& list) {
  std::vector<std::int64_t> result;
  std::istringstream in(list);
  for (std::string item; std::getline(in, item, ',');) {
    const auto star = item.find('*');
    const bool repeated = star != std::string::npos;
    result.insert(result.end(), repeated ? std::stoul(item) : 1,
                  std::stoll(repeated ? item.substr(star + 1) : item));
  }
  return result;
}

/// One rate in the file stands for all phases.
std::vector<std::int64_t> for_all_phases(std::vector<std::int64_t> values, std::size_t phases) {
  if (values.size() == 1) values.resize(phases, values[0]);
  return values;
}

std::vector<std::int64_t> times_of(const pugi::xml_node& properties) {
  std::string times = "0";
  for (const auto& processor : properties.children("processor"))
    if (processor.attribute("default").as_bool())
      times = processor.child("executionTime").attribute("time").as_string();
  return numbers(times);
}

struct SdfFile {
  Graph graph;
  std::map<std::string, ActorId> actors;
};

void add_actors(SdfFile& file, const pugi::xml_node& body, const pugi::xml_node& properties) {
  for (const auto& actor : body.children("actor")) {
    const std::string name = actor.attribute("name").as_string();
    std::size_t phases = 1;
    for (const auto& port : actor.children("port"))
      phases = std::max(phases, numbers(port.attribute("rate").as_string()).size());
    const auto given =
        times_of(properties.find_child_by_attribute("actorProperties", "actor", name.c_str()));
    phases = std::max(phases, given.size());
    Actor result{name, {}};
    for (std::int64_t time : for_all_phases(given, phases)) result.times.emplace_back(time);
    file.actors[name] = file.graph.add_actor(std::move(result));
  }
}

SdfFile read_sdf(const std::filesystem::path& path) {
  pugi::xml_document document;
  EXPECT_TRUE(document.load_file(path.c_str())) << path;
  const auto application = document.child("sdf3").child("applicationGraph");
  const bool cyclic = !application.child("csdf").empty();
  const auto body = application.child(cyclic ? "csdf" : "sdf");
  SdfFile file;
  add_actors(file, body, application.child(cyclic ? "csdfProperties" : "sdfProperties"));
  for (const auto& channel : body.children("channel")) {
    const auto rates = [&](const char* actor, const char* port) {
      const std::string name = channel.attribute(actor).as_string();
      const auto found =
          body.find_child_by_attribute("actor", "name", name.c_str())
              .find_child_by_attribute("port", "name", channel.attribute(port).as_string());
      return for_all_phases(numbers(found.attribute("rate").as_string()),
                            file.graph[file.actors[name]].times.size());
    };
    file.graph.add_channel({.name = channel.attribute("name").as_string(),
                            .from = file.actors[channel.attribute("srcActor").as_string()],
                            .to = file.actors[channel.attribute("dstActor").as_string()],
                            .production = rates("srcActor", "srcPort"),
                            .consumption = rates("dstActor", "dstPort"),
                            .initial_tokens = channel.attribute("initialTokens").as_llong()});
  }
  return file;
}

/// This file's times are twice those of its publication (0.5 is written as 1), its period is not.
std::string period_of(const std::string& id, const std::string& period) {
  return id == "cmlib_channel_decoder" && period == "3" ? "6" : period;
}

void expect_period(const Graph& graph, const std::string& period) {
  const auto found = throughput(graph);
  ASSERT_TRUE(found);
  const auto slash = period.find('/');
  const std::int64_t under = slash == std::string::npos ? 1 : std::stoll(period.substr(slash + 1));
  EXPECT_EQ(found->span.count() * under, std::stoll(period) * found->iterations);
}

/// With an actor's own pace, a graph without cycles has a period too; its channels need not stay
/// bounded then, so what is faster than the slowest actor is held back by ample space.
void hold_back(Graph& graph) {
  const auto cycles = repetition_vector(graph);
  for (std::size_t c = 0, count = graph.channels.size(); c < count; ++c) {
    const Channel& channel = graph.channels[c];
    std::int64_t produced = 0;
    for (std::int64_t rate : channel.production) produced += rate * cycles[channel.from.index];
    bound_channel(graph, ChannelId(c), 8 * produced + channel.initial_tokens);
  }
}

TEST(Oracle, every_graph_has_the_known_answers) {
  MILLRACE_NEEDS_SHARED("oracles/sdf/index.json");
  const auto folder = test::shared_folder() / "oracles/sdf";
  const auto index = read_json(folder / "index.json");
  int checked = 0;
  for (const auto& known : index["graphs"]) {
    SCOPED_TRACE(known["id"].get<std::string>());
    SdfFile file = read_sdf(folder / known["file"].get<std::string>());
    ++checked;
    if (!known["consistent"].get<bool>()) {
      EXPECT_THROW(repetition_vector(file.graph), InputError);
      continue;
    }
    const auto cycles = repetition_vector(file.graph);
    for (const auto& [name, count] : known["repetition_vector"].items()) {
      if (!count.is_number()) continue;  // "_omitted": how many are not listed
      EXPECT_EQ(cycles[file.actors.at(name).index], count.get<std::int64_t>()) << name;
    }
    EXPECT_EQ(static_cast<bool>(is_live(file.graph)), known["live"].get<bool>());
    if (!known["live"].get<bool>()) continue;
    const bool own = known.contains("period_no_auto_concurrency");
    hold_back(file.graph);
    expect_period(file.graph,
                  period_of(known["id"], known[own ? "period_no_auto_concurrency" : "period"]));
  }
  EXPECT_EQ(checked, 37);
}

}  // namespace
}  // namespace millrace::dataflow
