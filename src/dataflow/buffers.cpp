#include "dataflow/buffers.h"

#include <algorithm>
#include <queue>
#include <set>

#include "dataflow/checked.h"
#include "dataflow/storage.h"

namespace millrace::dataflow {
namespace {

/// What is looked for: live, or at most a period.
bool is_enough(const Trial& trial, const std::optional<Fraction>& period) {
  return trial.live && (!period || trial.period <= *period);
}

/// Capacities in the order of their totals. Whoever has a better throughput than some capacities,
/// and nowhere less space, has more at one of their obstacles; so the search passes by all of them.
class Frontier {
 public:
  Frontier(const Storage& storage, const Capacities& first) : storage_(storage) { add(first); }

  bool is_empty() const { return open_.empty(); }
  /// No capacities that are still to come have a smaller total.
  std::int64_t total() const { return open_.top().first; }

  Capacities take() {
    Capacities next = open_.top().second;
    open_.pop();
    return next;
  }

  void add_larger(const Capacities& capacities, const Trial& trial) {
    for (std::size_t pool : trial.obstacles) {
      Capacities larger = capacities;
      storage_.set_space(
          larger, pool,
          checked_add(storage_.space(larger, pool), storage_.step(pool), "a channel's capacity"));
      add(larger);
    }
  }

 private:
  void add(const Capacities& capacities) {
    if (seen_.insert(capacities).second) open_.emplace(storage_.total(capacities), capacities);
  }

  const Storage& storage_;
  using Entry = std::pair<std::int64_t, Capacities>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open_;
  std::set<Capacities> seen_;
};

class Sizer {
 public:
  Sizer(const Graph& graph, std::optional<Fraction> period, const SizingOptions& options)
      : storage_(graph, options), period_(period), least_(storage_.least()) {}

  std::optional<Sizing> run() {
    const auto unbounded = storage_.attempt(Capacities(least_.size(), 0));
    if (!unbounded || !is_enough(*unbounded, period_)) return std::nullopt;
    if (try_out(least_)) return best_;
    for (std::size_t pool = 0; pool < storage_.pools(); ++pool) raise_least(pool);
    const std::int64_t bound = search();
    if (!best_.capacities.empty()) return best_;
    grow();
    if (best_.capacities.empty()) return std::nullopt;
    shrink();
    best_.bound = bound;
    return best_;
  }

 private:
  /// Whether it is enough; then it is the best so far.
  bool try_out(const Capacities& capacities, std::optional<Trial>* outcome = nullptr) {
    const auto trial = storage_.attempt(capacities);
    if (outcome != nullptr) *outcome = trial;
    if (!trial || !is_enough(*trial, period_)) return false;
    best_ = {capacities, trial->period, storage_.total(capacities), storage_.total(capacities)};
    return true;
  }

  /// What a pool needs even if all others have space without end.
  void raise_least(std::size_t pool) {
    Capacities alone(least_.size(), 0);
    const std::int64_t begin = storage_.space(least_, pool), step = storage_.step(pool);
    const auto suffices = [&](std::int64_t steps) {
      storage_.set_space(alone, pool, begin + steps * step);
      const auto trial = storage_.attempt(alone);
      return !trial || is_enough(*trial, period_);
    };
    std::int64_t little = -1, much = 0;  // steps that do not suffice, and some that do
    while (!storage_.must_stop(exact_share) && !suffices(much)) {
      little = much;
      much = 2 * much + 1;
    }
    while (!storage_.must_stop(exact_share) && much - little > 1) {
      const std::int64_t middle = little + (much - little) / 2;
      (suffices(middle) ? much : little) = middle;
    }
    storage_.set_space(least_, pool, begin + (little + 1) * step);
  }

  /// The smallest that is enough goes to best_; else returns how far the search came.
  std::int64_t search() {
    Frontier frontier(storage_, least_);
    std::int64_t reached = frontier.total();
    while (!frontier.is_empty()) {
      reached = frontier.total();
      if (storage_.must_stop(exact_share)) return reached;
      const Capacities capacities = frontier.take();
      const auto trial = storage_.attempt(capacities);
      if (!trial) return reached;
      if (is_enough(*trial, period_)) {
        best_ = {capacities, trial->period, reached, reached};
        return reached;
      }
      frontier.add_larger(capacities, *trial);
    }
    return reached;
  }

  /// Ever more space where it is missing, or, when that takes long, everywhere, until it is enough.
  /// Takes a few tries more than allowed.
  void grow() {
    constexpr int most_tries = 200, most_doublings = 6;
    Capacities capacities = least_;
    for (int tries = 0; tries < most_tries && !storage_.must_stop(); ++tries) {
      std::optional<Trial> trial;
      if (try_out(capacities, &trial) || !trial) return;
      for (std::size_t pool : trial->obstacles) {
        const std::int64_t space = storage_.space(capacities, pool), step = storage_.step(pool);
        const std::int64_t steps = (std::max(step, space / 4) + step - 1) / step;
        storage_.set_space(capacities, pool,
                           checked_add(space, steps * step, "a channel's capacity"));
      }
    }
    capacities = least_;
    for (int doublings = 0; doublings < most_doublings; ++doublings) {
      for (std::size_t pool = 0; pool < storage_.pools(); ++pool) {
        const std::int64_t more =
            checked_multiply(storage_.ample(pool), 1 << doublings, "a channel's capacity");
        storage_.set_space(
            capacities, pool,
            checked_add(storage_.space(capacities, pool), more, "a channel's capacity"));
      }
      if (try_out(capacities)) return;
    }
  }

  /// Takes away what can be spared, channel by channel.
  void shrink() {
    for (std::size_t pool = 0; pool < storage_.pools(); ++pool) {
      Capacities capacities = best_.capacities;
      const std::int64_t step = storage_.step(pool), least = storage_.space(least_, pool);
      std::int64_t little = -1, much = (storage_.space(capacities, pool) - least) / step;
      while (much - little > 1) {
        if (storage_.must_stop()) return;
        const std::int64_t middle = little + (much - little) / 2;
        storage_.set_space(capacities, pool, least + middle * step);
        (try_out(capacities) ? much : little) = middle;
      }
    }
  }

  /// Share of what the options allow; the rest is for a result that is small, if not the smallest.
  static constexpr double exact_share = 0.6;

  Storage storage_;
  std::optional<Fraction> period_;
  Capacities least_;
  Sizing best_;
};

}  // namespace

Graph with_capacities(const Graph& graph, const Capacities& capacities) {
  Graph bounded = graph;
  for (std::size_t c = 0; c < capacities.size(); ++c)
    if (capacities[c] > 0) bound_channel(bounded, ChannelId(c), capacities[c]);
  return bounded;
}

std::optional<Bytes> total_bytes(const Graph& graph, const Capacities& capacities) {
  Bytes total;
  for (std::size_t c = 0; c < capacities.size(); ++c) {
    if (capacities[c] == 0) continue;
    const Channel& channel = graph.channels[c];
    if (channel.token_bits == 0) return std::nullopt;
    const std::int64_t bits = checked_multiply(capacities[c], channel.token_bits, channel.name);
    total.count = checked_add(total.count, bits / 8 + (bits % 8 > 0 ? 1 : 0), channel.name);
  }
  return total;
}

std::optional<Sizing> smallest_buffers(const Graph& graph, std::optional<Fraction> period,
                                       const SizingOptions& options) {
  return Sizer(graph, period, options).run();
}

ParetoFront pareto_front(const Graph& graph, const SizingOptions& options) {
  ParetoFront front;
  Storage storage(graph, options);
  const auto unbounded = storage.attempt(Capacities(graph.channels.size(), 0));
  if (!unbounded || !unbounded->live) return front;
  Frontier frontier(storage, storage.least());
  while (!frontier.is_empty() && !storage.must_stop()) {
    front.explored = frontier.total();
    const Capacities capacities = frontier.take();
    const auto trial = storage.attempt(capacities);
    if (!trial) return front;
    frontier.add_larger(capacities, *trial);
    if (!trial->live) continue;
    auto& points = front.points;
    if (!points.empty() && trial->period >= points.back().period) continue;
    if (!points.empty() && points.back().total == front.explored) points.pop_back();
    points.push_back({capacities, trial->period, front.explored, front.explored});
    front.complete = trial->period == unbounded->period;
    if (front.complete) return front;
  }
  return front;
}

}  // namespace millrace::dataflow
