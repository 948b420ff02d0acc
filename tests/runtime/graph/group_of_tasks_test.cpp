// Groups of tasks alone: their threads, queues and frames.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "runtime/controller/group_runner.h"
#include "runtime/graph/hashed_graph.h"
#include "runtime/graph/run_group.h"
#include "system/random_graph.h"

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;

GroupPlace place_of(const system::TaskGraph& graph, std::int64_t most = 1) {
  GroupPlace place;
  place.name = "g";
  place.graph = graph;
  for (const system::GraphTask& task : graph.tasks) place.tasks.push_back({task.name, {}, {}});
  place.most = most;
  place.pin = false;
  return place;
}

GroupToRun to_run(const system::TaskGraph& graph, std::vector<TaskToRun> tasks) {
  GroupToRun group;
  group.tasks = std::move(tasks);
  group.token_bytes.assign(graph.edges.size(), sizeof(test::Number));
  return group;
}

using test::run;

system::TaskGraph random_graph(Random& random) {
  system::RandomGraph options;
  options.tasks = 1 + random.below(10);
  options.most_rate = 1 + static_cast<std::int64_t>(random.below(8));
  options.share_of_tokens = random.unit() / 2;
  options.times = {{"cpu", {1ms, 2ms}}};
  options.seed = random();
  system::TaskGraph graph = system::random_graph(options);
  for (system::GraphEdge& edge : graph.edges)
    if (random.below(4) == 0) edge.tokens += static_cast<std::int64_t>(random.below(9));
  return graph;
}

TEST(group_of_tasks, random_graphs_give_what_sequential_execution_gives) {
  constexpr std::int64_t graphs = 1000, iterations = 6;
  Random random(5);
  std::int64_t several_rates = 0, with_tokens = 0, small = 0;
  for (std::int64_t i = 0; i < graphs; ++i) {
    const system::TaskGraph graph = random_graph(random);
    const auto counts = system::firings(graph, false);
    several_rates += *std::ranges::max_element(counts) > 1;
    with_tokens += system::waits_for_earlier_iterations(graph);
    std::vector<test::Number> digests(graph.tasks.size());
    GroupPlace place = place_of(graph, 1 + static_cast<std::int64_t>(random.below(3)));
    if (i % 20 == 0) {
      place.spaces = system::smallest_spaces(graph, false);
      small += place.spaces != system::spaces_without_waits(graph, false, 1);
    }
    ControllerSignals signals;
    GroupRunner runner(place, to_run(graph, test::hashed_code(graph, digests)), signals);
    run(runner, signals, iterations);
    signals.error.rethrow();
    ASSERT_EQ(digests, test::hashed_sequentially(graph, iterations)) << "graph " << i;
  }
  EXPECT_GE(several_rates, graphs / 2);
  EXPECT_GE(with_tokens, graphs / 4);
  EXPECT_GE(small, graphs / 100);
}

/// Frame n has n % 7 tokens of 6 that hold something; b takes two at once, and c all.
TEST(group_of_tasks, a_task_that_skips_empty_tokens_fires_only_for_others) {
  constexpr std::int64_t frames = 70;
  system::TaskGraph graph;
  for (const char* name : {"a", "b", "c"}) graph.tasks.push_back({name, {}});
  graph.edges = {{0, 1, 6, 2}, {1, 2, 2, 6}};
  std::int64_t fired = 0;
  std::vector<std::vector<std::uint8_t>> seen;
  std::vector<TaskToRun> tasks(3);
  tasks[0].make = [] {
    return [](const Firing& firing) {
      for (std::int64_t i = firing.number % 7; i < 6; ++i)
        firing.filled_outputs[0][static_cast<std::size_t>(i)] = 0;
    };
  };
  tasks[1].make = [&fired] {
    return [&fired](const Firing& firing) {
      ++fired;
      std::ranges::copy(firing.filled_inputs[0], firing.filled_outputs[0].begin());
    };
  };
  tasks[1].skips_empty = true;
  tasks[2].make = [&seen] {
    return [&seen](const Firing& firing) {
      seen.emplace_back(firing.filled_inputs[0].begin(), firing.filled_inputs[0].end());
    };
  };
  ControllerSignals signals;
  GroupRunner runner(place_of(graph), to_run(graph, std::move(tasks)), signals);
  run(runner, signals, frames);
  signals.error.rethrow();
  EXPECT_EQ(fired, frames / 7 * (0 + 1 + 1 + 2 + 2 + 3 + 3));
  ASSERT_EQ(seen.size(), static_cast<std::size_t>(frames));
  for (std::size_t n = 0; n < seen.size(); ++n)
    for (std::size_t i = 0; i < 6; ++i) ASSERT_EQ(seen[n][i], i < n % 7 ? 1 : 0) << n << ' ' << i;
}

/// a to b, and a to c with the same output.
system::TaskGraph fork() {
  system::TaskGraph graph;
  for (const char* name : {"a", "b", "c"}) graph.tasks.push_back({name, {}});
  graph.edges = {{0, 1}, {0, 2}};
  graph.edges[1].output = 0;
  return graph;
}

TaskToRun code(const Fire& fire) {
  return {[fire] { return fire; }};
}

TEST(group_of_tasks, edges_of_one_output_carry_the_same_tokens) {
  std::vector<test::Number> read_by_b, read_by_c;
  const auto reader = [](std::vector<test::Number>& into) {
    return code([&into](const Firing& firing) {
      test::Number number = 0;
      std::ranges::copy(firing.inputs[0], reinterpret_cast<std::byte*>(&number));
      into.push_back(number);
    });
  };
  const TaskToRun a = code([](const Firing& firing) {
    ASSERT_EQ(firing.outputs.size(), 1u);
    const test::Number number = 10 + static_cast<test::Number>(firing.number);
    std::memcpy(firing.outputs[0].data(), &number, sizeof number);
  });
  ControllerSignals signals;
  GroupRunner runner(place_of(fork()), to_run(fork(), {a, reader(read_by_b), reader(read_by_c)}),
                     signals);
  run(runner, signals, 3);
  EXPECT_EQ(read_by_b, (std::vector<test::Number>{10, 11, 12}));
  EXPECT_EQ(read_by_c, read_by_b);
}

std::string message_of_engine(const auto& action) {
  try {
    action();
  } catch (const EngineError& error) {
    return error.what();
  }
  return "no EngineError";
}

/// What a run says in whose second frame task b does this.
std::string error_of_b(const std::function<void()>& fails) {
  const auto b = code([fails](const Firing& firing) {
    if (firing.number == 1) fails();
  });
  ControllerSignals signals;
  GroupRunner runner(place_of(fork()), to_run(fork(), {{}, b, {}}), signals);
  run(runner, signals, 3);
  EXPECT_TRUE(signals.failed);
  return message_of_engine([&] { signals.error.rethrow(); });
}

TEST(group_of_tasks, a_task_that_throws_ends_the_group_and_is_named) {
  EXPECT_EQ(error_of_b([] { throw std::runtime_error("the lens is covered"); }),
            "group 'g': task 'b': the lens is covered");
  EXPECT_EQ(error_of_b([] { throw 3; }),
            "group 'g': task 'b': threw something that is no std::exception");
}

TEST(group_of_tasks, a_task_that_never_returns_is_left_alone_and_named) {
  // It outlives the group: what it holds is its own.
  struct Held {
    std::atomic<bool> released{false}, gone{false};
  };
  const auto held = std::make_shared<Held>();
  ControllerSignals signals;
  {
    GroupPlace place = place_of(fork());
    place.patience = 20ms;
    const auto b = code([held](const Firing&) {
      held->released.wait(false);
      held->gone = true;
      held->gone.notify_all();
    });
    GroupRunner runner(place, to_run(fork(), {{}, b, {}}), signals);
    runner.start();
    runner.release({Clock::now(), 1s, 0});
    runner.finish();
    runner.join();
  }
  EXPECT_TRUE(message_of_engine([&] {
                signals.error.rethrow();
              }).starts_with("group 'g': task 'b' has been at work for "));
  held->released = true;
  held->released.notify_all();
  held->gone.wait(false);
}

TEST(group_of_tasks, a_task_that_waits_for_something_is_told_to_stop) {
  std::atomic<bool> waits{false};
  const auto a = code([&](const Firing& firing) {
    waits = true;
    waits.notify_all();
    while (!*firing.stopping) std::this_thread::yield();
  });
  ControllerSignals signals;
  GroupRunner runner(place_of(fork()), to_run(fork(), {a, {}, {}}), signals);
  runner.start();
  runner.release({Clock::now(), 1s, 0});
  waits.wait(false);
  runner.finish();
  runner.join();
  EXPECT_FALSE(signals.failed);
  EXPECT_EQ(runner.on_the_way(), 0);
}

}  // namespace
}  // namespace millrace::runtime
