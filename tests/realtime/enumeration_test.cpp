// Chains that share cores by priority: bounds beside what all phases show, tick by tick.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "base/random.h"
#include "generate.h"
#include "realtime/analysis.h"
#include "realtime/utilisation.h"

namespace millrace::realtime {
namespace {

struct Piece {
  std::size_t core = 0;
  int ticks = 0;
};
struct Chain {
  int period = 0;
  std::vector<Piece> pieces;
};
/// Ascending periods; the first has the highest priority.
using Chains = std::vector<Chain>;

/// A simulator of its own: in each tick a core works on the oldest job there of the first chain.
class Ticks {
 public:
  Ticks(const Chains& chains, std::size_t cores) : chains_(chains), cores_(cores) {}

  /// The largest response of each chain.
  std::vector<int> run(const std::vector<int>& phases, int end) {
    jobs_.assign(chains_.size(), {});
    largest_.assign(chains_.size(), 0);
    for (int now = 0; now < end; ++now) {
      for (std::size_t c = 0; c < chains_.size(); ++c)
        if (now >= phases[c] && (now - phases[c]) % chains_[c].period == 0)
          jobs_[c].push_back({now, 0, chains_[c].pieces[0].ticks});
      for (std::size_t core = 0; core < cores_; ++core) work(core);
      for (std::size_t c = 0; c < chains_.size(); ++c) advance(c, now + 1);
    }
    return largest_;
  }

 private:
  struct Job {
    int begin = 0;
    std::size_t piece = 0;
    int left = 0;
  };

  void work(std::size_t core) {
    for (std::size_t c = 0; c < chains_.size(); ++c)
      for (Job& job : jobs_[c])
        if (job.left > 0 && chains_[c].pieces[job.piece].core == core) {
          --job.left;
          return;
        }
  }

  void advance(std::size_t chain, int now) {
    std::vector<Job>& jobs = jobs_[chain];
    for (Job& job : jobs) {
      largest_[chain] = std::max(largest_[chain], now - job.begin);
      if (job.left == 0 && ++job.piece < chains_[chain].pieces.size())
        job.left = chains_[chain].pieces[job.piece].ticks;
    }
    std::erase_if(jobs, [&](const Job& job) {
      return job.piece == chains_[chain].pieces.size();
    });
  }

  const Chains& chains_;
  const std::size_t cores_;
  std::vector<std::vector<Job>> jobs_;
  std::vector<int> largest_;
};

void load(Chains& chains, std::size_t core, double utilisation, Random& random) {
  std::vector<std::pair<Piece*, int>> found;
  for (Chain& chain : chains)
    for (Piece& piece : chain.pieces)
      if (piece.core == core) found.emplace_back(&piece, chain.period);
  if (found.empty()) return;
  const std::vector<double> shares = uunifast(found.size(), utilisation, random);
  for (std::size_t p = 0; p < found.size(); ++p)
    found[p].first->ticks = std::max(1, static_cast<int>(shares[p] * found[p].second));
}

Chains random_chains(Random& random, std::size_t cores, double utilisation) {
  constexpr std::array periods{20, 24, 30, 40, 60, 80, 120};
  Chains chains(2 + random.below(3));
  for (Chain& chain : chains) {
    chain.period = periods[random.below(periods.size())];
    chain.pieces.resize(1 + random.below(4));
    for (Piece& piece : chain.pieces) piece.core = random.below(cores);
  }
  std::ranges::sort(chains, {}, &Chain::period);
  for (std::size_t core = 0; core < cores; ++core) load(chains, core, utilisation, random);
  return chains;
}

TaskSystem system_of(const Chains& chains, std::size_t cores) {
  TaskSystem system;
  for (std::size_t core = 0; core < cores; ++core) system.add_resource({std::to_string(core)});
  for (std::size_t c = 0; c < chains.size(); ++c) {
    const Time period(chains[c].period);
    const FlowId flow = system.add_flow(
        {.name = std::to_string(c), .events = {.period = period}, .deadline = period});
    for (const Piece& piece : chains[c].pieces) {
      const std::vector<TaskId> before = system[flow].tasks;
      Task task{.name = std::to_string(system.tasks.size()),
                .resource = ResourceId(piece.core),
                .worst = Time(piece.ticks),
                .best = Time(piece.ticks)};
      task.priority = -static_cast<std::int64_t>(c);
      if (!before.empty()) task.after = {before.back()};
      system.add_task(flow, task);
    }
  }
  return system;
}

bool has_too_much_work(const TaskSystem& system) {
  return std::ranges::any_of(utilisations(system), &Utilisation::is_overloaded);
}

struct Counts {
  int schedulable = 0, accepted = 0;
};

/// As far as some hundred phases show; what misses a deadline only at others counts as schedulable.
void compare(const Chains& chains, std::size_t cores, Random& random, Counts& counts) {
  const TaskSystem system = system_of(chains, cores);
  if (has_too_much_work(system)) return;
  const Bounds bounds = analyse(system);
  bool keeps = true;
  Ticks ticks(chains, cores);
  for (int round = 0; round < 300; ++round) {
    std::vector<int> phases(chains.size(), 0);
    for (std::size_t c = 0; round > 0 && c < chains.size(); ++c)
      phases[c] = static_cast<int>(random.below(static_cast<std::uint64_t>(chains[c].period)));
    const std::vector<int> seen = ticks.run(phases, 360);
    for (std::size_t c = 0; c < chains.size(); ++c) {
      keeps = keeps && seen[c] <= chains[c].period;
      EXPECT_GE(bounds.flows[c].response, Time(seen[c]));
    }
    if (!keeps) break;
  }
  counts.schedulable += keeps ? 1 : 0;
  counts.accepted += keeps && is_schedulable(system, bounds) ? 1 : 0;
}

TEST(Enumeration, nine_of_ten_schedulable_systems_of_chains_are_accepted) {
  Random random(1);
  for (const std::size_t cores : {1U, 2U, 3U})
    for (const double utilisation : {0.3, 0.5, 0.7, 0.85}) {
      Counts counts;
      for (int k = 0; k < 60; ++k)
        compare(random_chains(random, cores, utilisation), cores, random, counts);
      std::printf("%zu cores, utilisation %.2f: %d schedulable, %d accepted\n", cores, utilisation,
                  counts.schedulable, counts.accepted);
      EXPECT_GE(counts.accepted * 10, counts.schedulable * 9);
    }
}

}  // namespace
}  // namespace millrace::realtime
