#include "runtime/controller/graph_times.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "base/error.h"

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;

/// a to b, which reads two tokens at once.
system::TaskGraph two_to_one() {
  system::TaskGraph graph;
  for (const char* name : {"a", "b"}) graph.tasks.push_back({name, {}});
  graph.edges = {{0, 1, 1, 2}};
  return graph;
}

TaskToRun timed_code(const Fire& fire) {
  return {[fire] { return fire; }};
}

void busy_for(Time time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

board::Board two_cores() {
  board::Board board;
  for (const char* name : {"core0", "core1"}) board.processors.push_back({name, {}, {}});
  return board;  // without numbers of cores: nothing is bound
}

GraphToTime graph_to_time(const system::TaskGraph& graph, std::vector<TaskToRun> tasks) {
  GraphToTime result{graph, {}, {}, {}};
  result.group.name = "g";
  result.group.tasks = std::move(tasks);
  result.group.token_bytes.assign(graph.edges.size(), 1);
  result.processors.assign(graph.tasks.size(), {0, 1});
  return result;
}

TaskTimesOptions few() {
  TaskTimesOptions options;
  options.samples = 5;
  options.priorities = false;
  return options;
}

TEST(MeasureGraphs, gives_each_task_its_samples_on_each_of_its_processors) {
  const system::TaskGraph graph = two_to_one();
  std::atomic<int> at_once{0};
  std::atomic<bool> twice{false};
  const auto a = timed_code([&](const Firing& firing) {
    EXPECT_TRUE(firing.is_rehearsal);
    if (++at_once > 1) twice = true;
    busy_for(1ms);
    --at_once;
  });
  const auto b = timed_code([](const Firing& firing) {
    EXPECT_EQ(firing.inputs[0].size(), 2u);
    busy_for(2ms);
  });
  GraphToTime timed = graph_to_time(graph, {a, b});
  timed.processors[1] = {1};
  const auto samples = measure_graphs({timed}, two_cores(), few());
  ASSERT_EQ(samples.size(), 3u);
  const std::set<std::pair<std::size_t, std::size_t>> expected{{0, 0}, {0, 1}, {1, 1}};
  std::set<std::pair<std::size_t, std::size_t>> found;
  for (const TaskSamples& each : samples) {
    found.emplace(each.task, each.processor);
    EXPECT_GE(each.samples.size(), 5u);
    EXPECT_GE(std::ranges::min(each.samples), each.task == 0 ? 1ms : 2ms);
  }
  EXPECT_EQ(found, expected);
  EXPECT_FALSE(twice);  // it has one state
}

TEST(MeasureGraphs, a_task_without_a_function_has_no_samples_and_makes_zeros) {
  const system::TaskGraph graph = two_to_one();
  const auto b = timed_code([](const Firing& firing) {
    EXPECT_EQ(firing.inputs[0][0], std::byte{0});
    EXPECT_EQ(firing.inputs[0][1], std::byte{0});
  });
  const auto samples = measure_graphs({graph_to_time(graph, {{}, b})}, two_cores(), few());
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].task, 1u);
}

/// A task without a function may leave out outputs.
TEST(MeasureGraphs, outputs_are_known_by_their_numbers) {
  system::TaskGraph graph = two_to_one();
  graph.edges[0].output = 3;
  const auto nothing = timed_code([](const Firing&) {});
  EXPECT_EQ(measure_graphs({graph_to_time(graph, {{}, nothing})}, two_cores(), few()).size(), 2u);
}

std::string message_of_failure(const GraphToTime& timed, const TaskTimesOptions& options) {
  try {
    measure_graphs({timed}, two_cores(), options);
  } catch (const EngineError& error) {
    return error.what();
  }
  return "no EngineError";
}

TEST(MeasureGraphs, a_task_that_throws_is_named) {
  const system::TaskGraph graph = two_to_one();
  for (const std::int64_t at : {0, 7}) {  // in the iteration, and later
    const auto a = timed_code([at](const Firing& firing) {
      if (firing.number == at) throw std::runtime_error("the lens is covered");
    });
    EXPECT_EQ(message_of_failure(graph_to_time(graph, {a, {}}), few()),
              "group 'g': task 'a': the lens is covered");
  }
}

TEST(MeasureGraphs, a_task_that_never_returns_is_left_alone_and_named) {
  struct Held {
    std::atomic<bool> released{false}, gone{false};
  };
  const system::TaskGraph graph = two_to_one();
  TaskTimesOptions options = few();
  options.patience = 150ms;
  for (const std::int64_t at : {0, 7}) {
    const auto held = std::make_shared<Held>();
    const auto a = timed_code([held, at](const Firing& firing) {
      if (firing.number != at) return;
      held->released.wait(false);
      held->gone = true;
      held->gone.notify_all();
    });
    EXPECT_TRUE(message_of_failure(graph_to_time(graph, {a, {}}), options)
                    .starts_with("group 'g': task 'a' has been at work for "));
    held->released = true;
    held->released.notify_all();
    held->gone.wait(false);
  }
}

TEST(MeasureGraphs, what_the_caller_throws_between_ends_it) {
  const system::TaskGraph graph = two_to_one();
  TaskTimesOptions options = few();
  options.samples = 1'000'000;
  int calls = 0;
  options.between = [&calls] {
    if (++calls == 3) throw EngineError("interrupted");
  };
  const auto a = timed_code([](const Firing&) { busy_for(1ms); });
  EXPECT_EQ(message_of_failure(graph_to_time(graph, {a, {}}), options), "interrupted");
}

}  // namespace
}  // namespace millrace::runtime
