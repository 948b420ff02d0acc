#include "system/random_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"

namespace millrace::system {
namespace {

class Making {
 public:
  explicit Making(const RandomGraph& options) : options_(options), random_(options.seed) {}

  TaskGraph make() {
    for (std::size_t t = 0; t < options_.tasks; ++t) add_task(t);
    set_processors();
    for (std::size_t t = 1; t < options_.tasks; ++t) add_inputs(t);
    return std::move(graph_);
  }

 private:
  void add_task(std::size_t index) {
    GraphTask task{.name = fmt::format("t{}", index), .on = {}};
    for (const RandomTimes& times : options_.times) {
      const auto range = static_cast<std::uint64_t>((times.worst.most - times.worst.least).count());
      const Time worst =
          times.worst.least + Time(static_cast<std::int64_t>(random_.below(range + 1)));
      task.on.push_back({times.processor, worst, share_of(worst, options_.average),
                         share_of(worst, options_.best)});
    }
    graph_.tasks.push_back(std::move(task));
    firings_.push_back(1 + static_cast<std::int64_t>(
                               random_.below(static_cast<std::uint64_t>(options_.most_rate))));
  }

  static Time share_of(Time time, double share) {
    return Time(static_cast<std::int64_t>(std::floor(static_cast<double>(time.count()) * share)));
  }

  void set_processors() {
    std::vector<std::size_t> order(graph_.tasks.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = 0; i + 1 < order.size(); ++i)
      std::swap(order[i], order[i + random_.below(order.size() - i)]);
    const auto count = static_cast<std::size_t>(
        std::lround(options_.share_of_last_only * static_cast<double>(order.size())));
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<TimesOn>& on = graph_.tasks[order[i]].on;
      on.erase(on.begin(), on.end() - 1);
    }
  }

  void add_inputs(std::size_t task) {
    const std::size_t count = 1 + random_.below(std::min(task, options_.most_inputs));
    std::vector<std::size_t> before(task);
    std::iota(before.begin(), before.end(), 0);
    for (std::size_t i = 0; i < count; ++i) {
      std::swap(before[i], before[i + random_.below(before.size() - i)]);
      add_edge(before[i], task);
      if (random_.unit() < options_.share_of_tokens) add_edge_back(task, before[i]);
    }
  }

  void add_edge(std::size_t from, std::size_t to) {
    const std::int64_t divisor = std::gcd(firings_[from], firings_[to]);
    GraphEdge edge{from, to, firings_[to] / divisor, firings_[from] / divisor};
    graph_.edges.push_back(edge);
  }

  /// With the tokens of an iteration on it, the next iteration waits for this one only.
  void add_edge_back(std::size_t from, std::size_t to) {
    add_edge(from, to);
    GraphEdge& edge = graph_.edges.back();
    edge.tokens = edge.produces * firings_[from];
  }

  const RandomGraph& options_;
  Random random_;
  TaskGraph graph_;
  std::vector<std::int64_t> firings_;
};

}  // namespace

TaskGraph random_graph(const RandomGraph& options) { return Making(options).make(); }

}  // namespace millrace::system
