// Throughput of random graphs whose repetition vectors sum to about a million: the
// time and the memory of each, and whether a critical cycle is named. Each is analysed in a process
// of its own.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "dataflow/analysis.h"

namespace {

using namespace millrace::dataflow;
using millrace::Time;

struct Shape {
  const char* name;
  enum class Tokens { fewest, some, many } tokens;
  bool both_ways;   // a chain with space for each channel; otherwise a ring with chords
  bool concurrent;  // firings overlap as far as self-edges allow
  std::int64_t phases;
};

constexpr Shape shapes[] = {
    {"ring, fewest tokens", Shape::Tokens::fewest, false, false, 1},
    {"ring, some tokens", Shape::Tokens::some, false, false, 1},
    {"ring, many tokens", Shape::Tokens::many, false, false, 1},
    {"chain with space, fewest", Shape::Tokens::fewest, true, false, 1},
    {"chain with space, some", Shape::Tokens::some, true, false, 1},
    {"chain with space, many", Shape::Tokens::many, true, false, 1},
    {"ring, self-edges, fewest", Shape::Tokens::fewest, false, true, 1},
    {"ring, self-edges, some", Shape::Tokens::some, false, true, 1},
    {"chain, self-edges, some", Shape::Tokens::some, true, true, 1},
    {"ring, phases, fewest", Shape::Tokens::fewest, false, false, 3},
    {"ring, phases, some", Shape::Tokens::some, false, false, 3},
    {"chain, phases, self-edges", Shape::Tokens::some, true, true, 3},
};

class Maker {
 public:
  Maker(const Shape& shape, std::uint64_t seed) : shape_(shape), chance_(seed) {}

  Graph make(std::size_t actors) {
    choose_cycles(actors);
    for (std::size_t a = 0; a < actors; ++a) add_actor(a);
    for (std::size_t a = 0; a + 1 < actors; ++a) connect(a, a + 1);
    if (shape_.both_ways)
      for (std::size_t a = 0; a + 1 < actors; ++a) connect(a + 1, a);
    else
      connect(actors - 1, 0);
    for (std::int64_t more = shape_.both_ways ? 0 : pick(0, 2); more > 0 && actors > 2; --more)
      connect(index(actors), index(actors));
    make_live();
    return std::move(graph_);
  }

 private:
  std::int64_t pick(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(chance_);
  }
  std::size_t index(std::size_t count) {
    return static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(count) - 1));
  }

  void choose_cycles(std::size_t actors) {
    for (std::size_t a = 0; a < actors; ++a) cycles_.push_back(pick(1'000'000, 10'000'000));
    const auto sum = std::accumulate(cycles_.begin(), cycles_.end(), std::int64_t{0});
    for (std::int64_t& cycles : cycles_) cycles = cycles / (sum / 1'000'000);
    while (std::accumulate(cycles_.begin(), cycles_.end(), std::int64_t{0},
                           std::gcd<std::int64_t, std::int64_t>) > 1)
      ++cycles_.back();
  }

  void add_actor(std::size_t at) {
    const std::int64_t phases = shape_.phases == 1 ? 1 : pick(1, shape_.phases);
    cycles_[at] /= phases;
    Actor actor{fmt::format("{}", at), {}, shape_.concurrent};
    for (std::int64_t p = 0; p < phases; ++p)
      actor.times.emplace_back(
          std::max<std::int64_t>(shape_.phases == 1 ? 1 : 0, pick(-200, 1000)));
    const ActorId id = graph_.add_actor(std::move(actor));
    if (!shape_.concurrent) return;
    const std::vector<std::int64_t> ones(static_cast<std::size_t>(phases), 1);
    graph_.add_channel({fmt::format("self{}", at), id, id, ones, ones, pick(1, 4), 0});
  }

  std::vector<std::int64_t> spread(std::int64_t total, std::size_t actor) {
    std::vector<std::int64_t> rates(graph_.actors[actor].times.size());
    for (std::size_t p = 0; p + 1 < rates.size(); ++p) {
      rates[p] = pick(0, total);
      total -= rates[p];
    }
    rates.back() = total;
    return rates;
  }

  void connect(std::size_t from, std::size_t to) {
    if (from == to) return;
    const std::int64_t common = std::gcd(cycles_[from], cycles_[to]);
    const std::int64_t produced = cycles_[to] / common, consumed = cycles_[from] / common;
    Channel channel{fmt::format("{}to{}_{}", from, to, graph_.channels.size()),
                    ActorId(from),
                    ActorId(to),
                    spread(produced, from),
                    spread(consumed, to),
                    0,
                    0};
    const std::int64_t least = produced + consumed - std::gcd(produced, consumed);
    if (to < from) {
      backward_.push_back({graph_.channels.size(), least});
    } else if (shape_.tokens == Shape::Tokens::many) {
      channel.initial_tokens = pick(0, produced * cycles_[from] / 2);
    }
    graph_.add_channel(std::move(channel));
  }

  void give(std::int64_t factor) {
    for (const auto& [channel, least] : backward_)
      graph_.channels[channel].initial_tokens = least * factor / 16;
  }

  /// The smallest multiple of a sixteenth of the smallest space that is live, and what is wanted
  /// beyond it.
  void make_live() {
    std::int64_t high = 16;
    for (give(high); !is_live(graph_); give(high)) high *= 2;
    for (std::int64_t low = 0; high - low > 1;) {
      const std::int64_t middle = (low + high) / 2;
      give(middle);
      (is_live(graph_) ? high : low) = middle;
    }
    if (shape_.tokens == Shape::Tokens::some) high = high * pick(17, 64) / 16;
    give(high);
    if (shape_.tokens != Shape::Tokens::many) return;
    for (const auto& [channel, least] : backward_) {
      Channel& at = graph_.channels[channel];
      const std::int64_t round =
          std::accumulate(at.production.begin(), at.production.end(), std::int64_t{0}) *
          cycles_[at.from.index];
      at.initial_tokens += pick(0, 2 * round);
    }
  }

  struct Backward {
    std::size_t channel;
    std::int64_t least;
  };
  const Shape& shape_;
  std::mt19937_64 chance_;
  Graph graph_;
  std::vector<std::int64_t> cycles_;
  std::vector<Backward> backward_;
};

struct Outcome {
  bool finished = false;
  double seconds = 0;
  long memory_kib = 0;
  char text[160] = {};
};

Method method_of(const std::string& name) {
  if (name == "cycle_ratio") return Method::cycle_ratio;
  if (name == "self_timed") return Method::self_timed;
  return name == "k_periodic" ? Method::k_periodic : Method::fastest;
}

double cpu_seconds(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// In a child, which is ended after a minute.
Outcome analyse(const Graph& graph, Method method) {
  int ends[2];
  if (pipe(ends) != 0) std::exit(3);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit minute{60, 60};
    setrlimit(RLIMIT_CPU, &minute);
    Outcome outcome;
    const auto found = throughput(graph, {.method = method, .max_firings = 10'000'000'000});
    const std::string text = !found
                                 ? "no answer"
                                 : fmt::format("{}/{} cycle {}", found->iterations,
                                               found->span.count(), found->critical_cycle.size());
    text.copy(outcome.text, sizeof outcome.text - 1);
    _exit(write(ends[1], outcome.text, sizeof outcome.text) < 0 ? 1 : 0);
  }
  close(ends[1]);
  Outcome outcome;
  outcome.finished = read(ends[0], outcome.text, sizeof outcome.text) > 0;
  close(ends[0]);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  outcome.seconds = cpu_seconds(usage);
  outcome.memory_kib = usage.ru_maxrss;
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "fastest";
  const int seeds = argc > 2 ? std::atoi(argv[2]) : 2;
  double worst = 0;
  long most = 0;
  fmt::print("{:<28} {:>6} {:>4}  {:>7} {:>5}  {}\n", "shape", "actors", "seed", "s", "MiB",
             "iterations per time, critical cycle");
  for (const Shape& shape : shapes)
    for (const std::size_t actors : {2u, 3u, 4u, 6u, 9u, 12u, 30u, 100u, 300u})
      for (int seed = 0; seed < seeds; ++seed) {
        const Graph graph =
            Maker(shape, static_cast<std::uint64_t>(seed) * 1000 + actors).make(actors);
        const Outcome outcome = analyse(graph, method_of(name));
        worst = std::max(worst, outcome.seconds);
        most = std::max(most, outcome.memory_kib);
        fmt::print("{:<28} {:>6} {:>4}  {:>7.3f} {:>5}  {}\n", shape.name, actors, seed,
                   outcome.seconds, outcome.memory_kib / 1024,
                   outcome.finished ? outcome.text : "not within a minute");
        std::fflush(stdout);
      }
  fmt::print("worst {:.3f} s, {} MiB\n", worst, most / 1024);
}
