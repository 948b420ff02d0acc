#include "system/read_random_graphs.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "board/read_values.h"

namespace millrace::system {
namespace {

constexpr std::array<std::string_view, 8> random_graphs_keys{
    "count",    "rate_fps",           "period_ms", "tasks",
    "worst_us", "share_of_last_only", "most_rate", "seed"};
constexpr int most_graphs = 1000, most_tasks = 1000, most_token_rate = 1000;
constexpr int seeds_of_a_system = most_graphs;  // so that two systems share no graph

TimeRange worst_times(const YamlView& view) {
  const std::vector<YamlView> ends = view.items();
  if (ends.size() != 2)
    view.fail(fmt::format("found {} numbers, expected two, the least and the most", ends.size()));
  const auto time = [](const YamlView& end) {
    return Time(std::llround(board::read_number(end, {1e-3, 1e9}) * 1e3));
  };
  const TimeRange range{time(ends[0]), time(ends[1])};
  if (range.least > range.most) view.fail("the least is above the most; swap the two numbers");
  return range;
}

}  // namespace

std::vector<RandomGraph> read_random_graphs(const YamlView& view) {
  view.only(random_graphs_keys);
  RandomGraph graph;
  if (view.has("tasks"))
    graph.tasks = static_cast<std::size_t>(board::read_count(view.at("tasks"), 1, most_tasks));
  if (view.has("most_rate"))
    graph.most_rate = board::read_count(view.at("most_rate"), 1, most_token_rate);
  if (view.has("share_of_last_only"))
    graph.share_of_last_only = board::read_number(view.at("share_of_last_only"), {0, 1});
  const YamlView worst = view.at("worst_us");
  for (const std::string& on : worst.keys()) graph.times.push_back({on, worst_times(worst.at(on))});
  if (graph.times.empty()) worst.fail("found none, expected such as cpu: [100, 500]");
  const std::int64_t seed = view.has("seed") ? view.at("seed").integer(0, 1'000'000'000) : 1;
  std::vector<RandomGraph> graphs(
      static_cast<std::size_t>(board::read_count(view.at("count"), 1, most_graphs)), graph);
  for (std::size_t g = 0; g < graphs.size(); ++g)
    graphs[g].seed = static_cast<std::uint64_t>(seeds_of_a_system * seed) + g;
  return graphs;
}

}  // namespace millrace::system
