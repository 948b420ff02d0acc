#include "dataflow/expansion.h"

#include <numeric>

#include "dataflow/checked.h"

namespace millrace::dataflow {
namespace {

/// A channel's producer or consumer during one round.
struct End {
  std::uint32_t first = 0, firings = 0;  // nodes
  const std::vector<std::int64_t>* rates = nullptr;

  std::int64_t rate(std::uint32_t firing) const { return (*rates)[firing % rates->size()]; }
};

class Expander {
 public:
  Expander(const Graph& graph, const Component& component)
      : graph_(graph), component_(component), position_(graph.actors.size(), 0) {
    for (std::size_t at = 0; at < component.actors.size(); ++at) {
      position_[component.actors[at]] = at;
      result_.first.push_back(result_.nodes);
      result_.nodes += static_cast<std::uint32_t>(firings_per_round(graph, component, at));
    }
  }

  Expansion run() {
    std::size_t waits = result_.nodes;
    for (std::size_t c : component_.channels)
      waits += firings(position_[graph_.channels[c].to.index]);
    result_.waits.reserve(waits);
    for (std::size_t at = 0; at < component_.actors.size(); ++at) order_firings(at);
    for (std::size_t c : component_.channels) connect(c);
    return std::move(result_);
  }

 private:
  std::uint32_t firings(std::size_t at) const {
    return (at + 1 < result_.first.size() ? result_.first[at + 1] : result_.nodes) -
           result_.first[at];
  }

  void order_firings(std::size_t at) {
    const Actor& actor = graph_.actors[component_.actors[at]];
    const std::uint32_t first = result_.first[at], count = firings(at);
    if (actor.concurrent && count == 1) return;
    const auto time_of = [&](std::uint32_t firing) {
      return actor.concurrent ? 0 : actor.times[firing % actor.times.size()].count();
    };
    result_.waits.push_back({first, first + count - 1, own_order, time_of(count - 1), 1});
    for (std::uint32_t k = 1; k < count; ++k)
      result_.waits.push_back({first + k, first + k - 1, own_order, time_of(k - 1), 0});
  }

  /// A firing waits for those that produce its tokens: of several the last, unless they may
  /// overtake each other. What an earlier firing of the consumer waits for is not repeated.
  void connect(std::size_t c) {
    const Channel& channel = graph_.channels[c];
    const std::size_t from = position_[channel.from.index], to = position_[channel.to.index];
    const End producer{result_.first[from], firings(from), &channel.production};
    const End consumer{result_.first[to], firings(to), &channel.consumption};
    const Actor& actor = graph_[channel.from];
    const bool all = may_overtake(actor);
    const std::int64_t per_round = checked_multiply(
        std::accumulate(producer.rates->begin(), producer.rates->end(), std::int64_t{0}),
        component_.cycles[from], channel.name);
    // Tokens are counted from the first that the first round produces. `rounds` is never positive.
    const std::int64_t begin = 1 - channel.initial_tokens;
    std::int64_t rounds = begin > 0 ? 0 : -((-begin) / per_round + 1);
    std::int64_t produced = checked_multiply(rounds, per_round, channel.name) + producer.rate(0);
    std::int64_t needed = -channel.initial_tokens;
    std::uint32_t k = 0;
    const auto advance = [&] {
      if (++k == producer.firings) k = 0, ++rounds;
      produced += producer.rate(k);
    };
    const auto wait = [&](std::uint32_t firing) {
      const Time time = actor.times[k % actor.times.size()];
      result_.waits.push_back({consumer.first + firing, producer.first + k,
                               static_cast<std::uint32_t>(c), time.count(), -rounds});
    };
    bool repeated = false;  // a consumer waits for k already
    for (std::uint32_t firing = 0; firing < consumer.firings; ++firing) {
      const std::int64_t before = needed;
      needed += consumer.rate(firing);
      if (needed == before) continue;
      for (; produced < needed; advance(), repeated = false)
        if (all && !repeated && produced > before && producer.rate(k) > 0) wait(firing);
      if (!repeated) wait(firing);
      repeated = true;
    }
  }

  const Graph& graph_;
  const Component& component_;
  std::vector<std::size_t> position_;  // by actor
  Expansion result_;
};

}  // namespace

Expansion expand(const Graph& graph, const Component& component) {
  return Expander(graph, component).run();
}

}  // namespace millrace::dataflow
