// Random task graphs beside the groups of a system, as in section 5.5.4 of J. Kim's thesis:
// random_groups SYSTEM GRAPHS FPS SEED writes the larger system.
#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "system/random_graph.h"
#include "system/system_file.h"

namespace millrace {
namespace {

using std::chrono::microseconds;

/// Times as printed for 16 graphs; the work of all graphs together stays the same.
system::RandomGraph graph_options(std::int64_t graphs, std::uint64_t seed) {
  const auto range = [graphs](std::int64_t least_us, std::int64_t most_us) {
    return system::TimeRange{microseconds(least_us * 16 / graphs),
                             microseconds(most_us * 16 / graphs)};
  };
  system::RandomGraph options{.times = {{"cpu", range(100, 500)}, {"gpu", range(10, 100)}}};
  options.seed = seed;
  return options;
}

int run(int count, char** words) {
  if (count != 5) {
    fmt::print(stderr, "expected SYSTEM GRAPHS FPS SEED\n");
    return 2;
  }
  system::System system = system::read_system(words[1]);
  const std::int64_t graphs = std::atoll(words[2]);
  const double fps = std::atof(words[3]);
  const auto seed = static_cast<std::uint64_t>(std::atoll(words[4]));
  for (std::int64_t g = 0; g < graphs; ++g) {
    system::Group group{.name = fmt::format("graph{}", g), .model = {}, .rates = {fps, fps}};
    group.graph = random_graph(graph_options(graphs, 1000 * seed + static_cast<std::uint64_t>(g)));
    system.groups.push_back(std::move(group));
    system.scenarios.front().groups.emplace_back(system.groups.size() - 1);
  }
  check(system);
  fmt::print("{}\n", to_json(system, std::filesystem::path(words[1]).parent_path()).dump(1));
  return 0;
}

}  // namespace
}  // namespace millrace

int main(int count, char** words) {
  try {
    return millrace::run(count, words);
  } catch (const millrace::InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
