// Graphs that nobody here wrote, with code for their actors.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "base/error.h"
#include "runtime/controller/group_runner.h"
#include "runtime/graph/hashed_graph.h"
#include "runtime/graph/run_group.h"
#include "support/shared.h"
#include "system/system_file.h"

namespace millrace::runtime {
namespace {

namespace fs = std::filesystem;

/// The graph as a group of a system has it; none: it is refused, or has several phases.
std::optional<system::TaskGraph> sdf3_graph(const fs::path& file) {
  try {
    const std::string text =
        "format: 1\ngroups:\n  - {name: g, period_ms: 1000000, graph: " + file.string() + "}\n";
    return system::parse_system(text, "s.yaml").groups[0].graph;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

TEST(sdf3_graphs, give_what_sequential_execution_gives) {
  MILLRACE_NEEDS_SHARED("oracles/sdf");
  constexpr std::int64_t iterations = 4;
  int ran = 0;
  for (const auto& entry : fs::directory_iterator(test::shared_folder() / "oracles/sdf")) {
    if (entry.path().extension() != ".xml") continue;
    const auto graph = sdf3_graph(entry.path());
    if (!graph) continue;
    GroupPlace place;
    place.name = entry.path().stem().string();
    place.graph = *graph;
    for (const system::GraphTask& task : graph->tasks) place.tasks.push_back({task.name, {}, {}});
    place.pin = false;
    std::vector<test::Number> digests(graph->tasks.size());
    GroupToRun group;
    group.tasks = test::hashed_code(*graph, digests);
    group.token_bytes.assign(graph->edges.size(), sizeof(test::Number));
    ControllerSignals signals;
    GroupRunner runner(place, group, signals);
    test::run(runner, signals, iterations);
    signals.error.rethrow();
    EXPECT_EQ(digests, test::hashed_sequentially(*graph, iterations)) << entry.path();
    ++ran;
  }
  EXPECT_GE(ran, 5);
}

}  // namespace
}  // namespace millrace::runtime
