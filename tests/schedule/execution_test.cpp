// Any plan's schedule, executed in any order in time: its firings are those of the CSDF graph.
#include "schedule/execution.h"

#include <gtest/gtest.h>

#include <set>

#include "plan/with_replicas.h"
#include "schedule/graph.h"

namespace millrace::schedule {
namespace {

using namespace plan::test;

constexpr std::int64_t frames = 60;

struct Case {
  network::Network network;
  plan::Plan plan;
};

/// In turns: any mapping, one with batches, one with replicas, copies of all with batches.
Case random_case(std::uint64_t seed) {
  Random random(seed);
  Case result{random_network(random, 20), {}};
  const std::size_t layers = result.network.layers.size();
  plan::BuildOptions options{.capacity = 1 + static_cast<std::int64_t>(random.below(3)),
                             .most_offset = static_cast<std::int64_t>(random.below(10))};
  if (seed % 4 == 3) {
    const BatchingCopies copies = batching_copies(random, result.network);
    result.plan = plan::build(result.network, copies.board, copies.mapping, copies.options);
    return result;
  }
  if (seed % 4 == 2) {
    const auto board = board_of(16);
    const Replicated replicated = random_replicas(random, result.network, board, 4);
    options.replicas = replicated.options.replicas;
    options.batches = replicated.options.batches;
    result.plan = plan::build(result.network, board, replicated.mapping, options);
    return result;
  }
  if (seed % 4 == 1)
    while (options.batches.size() < layers)
      options.batches.push_back(std::int64_t{1} << random.below(3));
  const auto board = board_of(1 + random.below(4));
  result.plan = plan::build(result.network, board,
                            random_mapping(random, layers, board.processors.size()), options);
  return result;
}

struct Fired {
  std::size_t actor;
  Firing firing;
};

/// Begins, ends, submits and takes by chance; `note` sees each firing when it begins and ends.
template <class Note>
void execute(const Schedule& schedule, Order order, Random& random, const Note& note) {
  Execution execution(schedule, order);
  std::vector<std::optional<Firing>> running(schedule.actors.size());
  for (std::int64_t idle = 0; execution.taken() < frames; ++idle) {
    ASSERT_LT(idle, 1000) << "it stands still";
    const std::size_t what = random.below(running.size() + 2);
    if (what == running.size() && execution.may_submit()) {
      execution.submit();
      idle = 0;
    } else if (what == running.size() + 1 && execution.may_take()) {
      execution.take();
      idle = 0;
    } else if (what < running.size() && running[what]) {
      execution.end(what, *running[what]);
      note(Fired{what, *running[what]}, true, execution);
      running[what].reset();
      idle = 0;
    } else if (what < running.size() && (running[what] = execution.next(what))) {
      note(Fired{what, *running[what]}, false, execution);
      idle = 0;
    }
  }
}

/// How many of the channel's frames either side has begun and ended.
struct Use {
  std::int64_t read = 0, freed = 0, begun = 0, written = 0;
};

/// Number of the channel's frames that the firing works on.
std::int64_t frames_of(const Channel& channel, const Firing& firing) {
  std::int64_t count = 0;
  for (std::int64_t frame = firing.frame; frame <= firing.last(); frame += firing.step)
    count += channel.frames.has(frame + 64 * channel.frames.step) ? 1 : 0;
  return count;
}

TEST(Execution, respects_tokens_and_space_of_every_channel) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Case each = random_case(seed);
    const Schedule schedule = compile(each.plan);
    Random random(seed);
    std::vector<Use> uses(schedule.channels.size());
    execute(schedule, Order::graph, random, [&](const Fired& fired, bool ended, const auto& now) {
      const End here{fired.actor, fired.firing.phase};
      for (std::size_t c = 0; c < uses.size(); ++c) {
        const Channel& channel = schedule.channels[c];
        Use& use = uses[c];
        if (channel.from.is_outside())
          use.begun = use.written = channel.frames.before(now.submitted());
        if (channel.to.is_outside()) use.freed = channel.frames.before(now.taken());
        const std::int64_t count = frames_of(channel, fired.firing);
        if (channel.to == here) (ended ? use.freed : use.read) += count;
        if (channel.from == here) (ended ? use.written : use.begun) += count;
        ASSERT_LE(use.read, use.written);
        ASSERT_LE(use.begun - use.freed, channel.capacity);
      }
    });
  }
}

/// In cycles of its actor, the last of the firing.
std::int64_t cycle_of(const Actor& actor, const Firing& firing) {
  const std::int64_t first = firing.frame + actor.phases[firing.phase].offset;
  return first / actor.frames.step + firing.count - 1;
}

TEST(Execution, fires_what_the_graph_fires_in_its_order) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Case each = random_case(seed);
    const Schedule schedule = compile(each.plan);
    const dataflow::Graph graph = csdf_graph(schedule, each.network, {.bounded = false});
    Random random(seed);
    std::vector<std::pair<std::int64_t, std::size_t>> last(schedule.actors.size(), {-1, 0});
    std::vector<std::vector<std::int64_t>> done;
    for (const Actor& actor : schedule.actors)
      done.emplace_back(actor.phases.size(), actor.frames.first);
    execute(schedule, Order::graph, random, [&](const Fired& fired, bool ended, const auto&) {
      if (ended) return;
      const auto& [index, firing] = fired;
      const Actor& actor = schedule.actors[index];
      EXPECT_EQ(firing.frame, done[index][firing.phase]) << "each of its frames once, in order";
      done[index][firing.phase] += firing.count * actor.frames.step;
      const std::pair now{cycle_of(actor, firing), firing.phase};
      EXPECT_TRUE(actor.phases[firing.phase].fires_in(now.first));
      EXPECT_LT(last[index], now);
      last[index] = now;
      for (std::size_t c = 0; c < schedule.channels.size(); ++c) {
        const Channel& channel = schedule.channels[c];
        if (channel.to != End{index, firing.phase}) continue;
        const auto& taken = graph.channels[c].consumption;
        const auto phase = static_cast<std::size_t>(now.first) * actor.phases.size() + firing.phase;
        Firing whole = firing;  // with those before the first frame of all
        whole.count = actor.phases[firing.phase].batch;
        whole.frame = firing.last() - (whole.count - 1) * firing.step;
        EXPECT_EQ(taken[phase % taken.size()], frames_of(channel, whole));
      }
    });
  }
}

TEST(Execution, first_free_replicas_share_all_frames) {
  for (std::uint64_t seed = 3; seed < 400; seed += 4) {
    SCOPED_TRACE(seed);
    const Case each = random_case(seed);
    const Schedule schedule = compile(each.plan);
    ASSERT_TRUE(schedule.first_free);
    Random random(seed);
    std::set<std::pair<std::size_t, std::int64_t>> done;  // phase and frame
    std::set<std::size_t> busy;
    execute(schedule, Order::submitted, random, [&](const Fired& fired, bool ended, const auto&) {
      if (!ended) return;
      busy.insert(fired.actor);
      for (std::int64_t i = 0; i < fired.firing.count; ++i)
        EXPECT_TRUE(done.emplace(fired.firing.phase, fired.firing.frame + i).second);
    });
    EXPECT_GE(done.size(), frames * schedule.actors.front().phases.size());
    EXPECT_EQ(busy.size(), schedule.actors.size());
  }
}

TEST(Execution, the_last_frames_wait_for_no_batch) {
  const auto network = network_of(2, {{0, 1}});
  const auto plan =
      plan::build(network, board_of(1), mapping_of({0, 0}), {.capacity = 4, .batches = {1, 4}});
  Execution execution(compile(plan));
  for (int i = 0; i < 3; ++i) execution.submit();
  for (int i = 0; i < 3; ++i) {
    const auto firing = execution.next(0);
    ASSERT_TRUE(firing);
    EXPECT_EQ(firing->phase, 0u);
    execution.end(0, *firing);
  }
  const auto firing = execution.next(0);
  ASSERT_TRUE(firing);
  EXPECT_EQ(firing->count, 3);
  EXPECT_EQ(firing->frame, 0);
}

}  // namespace
}  // namespace millrace::schedule
