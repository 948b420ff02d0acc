// Graphs with known repetition vectors, liveness and periods.
#include <gtest/gtest.h>

#include <ctime>

#include "base/error.h"
#include "base/json.h"
#include "dataflow/analysis.h"
#include "dataflow/sdf3.h"
#include "support/shared.h"

namespace millrace::dataflow {
namespace {

constexpr Method all_methods[] = {Method::fastest, Method::self_timed, Method::cycle_ratio,
                                  Method::k_periodic};

/// This file's times are twice those of its publication (0.5 is written as 1), its period is not.
std::string period_of(const std::string& id, const std::string& period) {
  return id == "cmlib_channel_decoder" && period == "3" ? "6" : period;
}

void expect_period(const Graph& graph, const std::string& period) {
  for (Method method : all_methods) {
    const auto found = throughput(graph, {.method = method});
    ASSERT_TRUE(found);
    ASSERT_TRUE(found->is_live());
    EXPECT_EQ(found->period(), parse_fraction(period, "the known period"))
        << found->period().text();
  }
}

ActorId actor_named(const Graph& graph, const std::string& name) {
  for (std::size_t a = 0; a < graph.actors.size(); ++a)
    if (graph.actors[a].name == name) return ActorId(a);
  return {};
}

void expect_repetition_vector(const Graph& graph, const nlohmann::json& known) {
  const auto cycles = repetition_vector(graph);
  for (const auto& [name, count] : known.items()) {
    if (!count.is_number()) continue;  // "_omitted": how many are not listed
    ASSERT_TRUE(actor_named(graph, name).valid()) << name;
    EXPECT_EQ(cycles[actor_named(graph, name).index], count.get<std::int64_t>()) << name;
  }
}

TEST(Oracle, every_graph_has_the_known_answers) {
  MILLRACE_NEEDS_SHARED("oracles/sdf/index.json");
  const auto folder = millrace::test::shared_folder() / "oracles/sdf";
  const auto index = read_json(folder / "index.json");
  int checked = 0;
  for (const auto& known : index["graphs"]) {
    SCOPED_TRACE(known["id"].get<std::string>());
    Graph graph = read_sdf3(folder / known["file"].get<std::string>()).graph;
    ++checked;
    if (!known["consistent"].get<bool>()) {
      EXPECT_THROW(repetition_vector(graph), InputError);
      continue;
    }
    expect_repetition_vector(graph, known["repetition_vector"]);
    EXPECT_EQ(static_cast<bool>(is_live(graph)), known["live"].get<bool>());
    for (Method method : all_methods)
      EXPECT_EQ(throughput(graph, {.method = method})->is_live(), known["live"].get<bool>());
    if (!known["live"].get<bool>()) continue;
    expect_period(graph, period_of(known["id"], known["period"]));
    if (!known.contains("period_no_auto_concurrency")) continue;
    for (Actor& actor : graph.actors) actor.concurrent = false;
    expect_period(graph, period_of(known["id"], known["period_no_auto_concurrency"]));
  }
  EXPECT_EQ(checked, 37);
}

TEST(Oracle, files_written_and_read_again_have_the_same_answers) {
  MILLRACE_NEEDS_SHARED("oracles/sdf/index.json");
  const auto folder = millrace::test::shared_folder() / "oracles/sdf";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".xml" || entry.path().stem() == "inconsistent_two_paths")
      continue;
    SCOPED_TRACE(entry.path().string());
    const Graph graph = read_sdf3(entry.path()).graph;
    const Graph again = parse_sdf3(to_sdf3(graph), "again").graph;
    EXPECT_EQ(repetition_vector(again), repetition_vector(graph));
    const auto known = throughput(graph), found = throughput(again);
    EXPECT_EQ(found->span, known->span);
    EXPECT_EQ(found->iterations, known->iterations);
  }
}

TEST(Oracle, large_public_graphs_take_less_than_a_second) {
  MILLRACE_NEEDS_SHARED("oracles/sdf/index.json");
  for (const char* name :
       {"BlackScholes", "BlackScholes_sized", "Echo", "JPEG2000", "JPEG2000_sized"}) {
    const auto file = std::string("oracles/sdf/kiter_IB5CSDF_") + name + ".xml";
    const Graph graph = read_sdf3(millrace::test::shared_folder() / file).graph;
    [[maybe_unused]] const std::clock_t begin = std::clock();
    ASSERT_TRUE(throughput(graph));
#ifndef MILLRACE_SANITIZED
    EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 1.0) << name;
#endif
  }
}

}  // namespace
}  // namespace millrace::dataflow
