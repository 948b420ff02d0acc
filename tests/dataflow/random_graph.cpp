#include "random_graph.h"

#include <numeric>

namespace millrace::dataflow::test {
namespace {

class Maker {
 public:
  Maker(Chance& chance, const RandomShape& shape, const std::vector<std::int64_t>& cycles)
      : chance_(chance), shape_(shape), cycles_(cycles) {}

  Graph make() {
    graph_.name = "random";
    for (std::size_t a = 0; a < cycles_.size(); ++a) add_actor(a);
    const bool ring = pick(chance_, 0, 1) == 1;
    const auto count = static_cast<std::int64_t>(cycles_.size());
    for (std::int64_t a = 1; a < count; ++a)
      ring ? connect(a - 1, a) : connect(pick(chance_, 0, a - 1), a);
    if (ring && count > 1) connect(count - 1, 0);
    for (std::int64_t more = pick(chance_, 0, count); more > 0; --more)
      connect(pick(chance_, 0, count - 1), pick(chance_, 0, count - 1));
    return std::move(graph_);
  }

 private:
  void add_actor(std::size_t index) {
    Actor actor{std::to_string(index), {}, pick(chance_, 0, 1) == 1};
    const std::int64_t phases = pick(chance_, 0, 2) == 0 ? pick(chance_, 1, shape_.most_phases) : 1;
    for (std::int64_t p = 0; p < phases; ++p)
      actor.times.emplace_back(pick(chance_, 0, shape_.longest));
    graph_.add_actor(std::move(actor));
  }

  std::vector<std::int64_t> spread(std::int64_t total, std::int64_t actor) {
    std::vector<std::int64_t> rates(graph_.actors[static_cast<std::size_t>(actor)].times.size(), 0);
    const auto last = static_cast<std::int64_t>(rates.size()) - 1;
    if (last == 0) return {total};
    for (; total > 0; --total) ++rates[static_cast<std::size_t>(pick(chance_, 0, last))];
    return rates;
  }

  void connect(std::int64_t from, std::int64_t to) {
    const std::int64_t from_cycles = cycles_[static_cast<std::size_t>(from)];
    const std::int64_t to_cycles = cycles_[static_cast<std::size_t>(to)];
    const std::int64_t common = std::gcd(from_cycles, to_cycles);
    const std::int64_t factor = pick(chance_, 1, 2);
    const std::int64_t produced = factor * to_cycles / common;
    const std::int64_t round = produced * from_cycles;
    const bool back = to <= from;
    Channel channel;
    channel.name = std::to_string(graph_.channels.size());
    channel.from = ActorId(static_cast<std::size_t>(from));
    channel.to = ActorId(static_cast<std::size_t>(to));
    channel.production = spread(produced, from);
    channel.consumption = spread(factor * from_cycles / common, to);
    channel.initial_tokens = pick(chance_, 0, back ? shape_.most_rounds * round : round / 2);
    graph_.add_channel(std::move(channel));
  }

  Chance& chance_;
  const RandomShape& shape_;
  const std::vector<std::int64_t>& cycles_;
  Graph graph_;
};

}  // namespace

std::int64_t pick(Chance& chance, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(chance);
}

Graph random_graph(Chance& chance, const RandomShape& shape) {
  std::vector<std::int64_t> cycles(static_cast<std::size_t>(pick(chance, 1, shape.most_actors)));
  for (std::int64_t& count : cycles) count = pick(chance, 1, shape.most_cycles);
  return random_graph(chance, shape, cycles);
}

Graph random_graph(Chance& chance, const RandomShape& shape,
                   const std::vector<std::int64_t>& cycles) {
  return Maker(chance, shape, cycles).make();
}

}  // namespace millrace::dataflow::test
