#include "system/task_times.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/message_of.h"
#include "system/system_file.h"

namespace millrace::system {
namespace {

System system_with(const std::string& on) {
  return parse_system("format: 1\ngroups:\n  - {name: g, rate_fps: 10, tasks: [{name: a, on: " +
                          on + ", code: {plugin: t.so, function: f}}]}\n",
                      "s.yaml");
}

GraphTask task_on(const std::string& on) { return system_with(on).groups[0].graph.tasks[0]; }

/// Two devices with two and one core, and a GPU.
board::Board board_of_two_speeds() {
  board::Board board;
  for (const auto& [name, cores] : {std::pair{"big", std::vector<int>{0, 1}}, {"little", {2}}}) {
    board::Device& device = board.devices.emplace_back();
    device.name = name;
    device.cores = cores;
    for (const int core : cores)
      board.processors.push_back(
          {"core" + std::to_string(core), board::ProcessorKind::cpu, {core}});
  }
  board.processors.push_back({"gpu0", board::ProcessorKind::gpu, {}});
  return board;
}

TEST(task_times, a_list_of_processors_or_a_word_leaves_times_to_be_measured) {
  EXPECT_TRUE(has_times_to_measure(task_on("[cpu]")));
  EXPECT_TRUE(has_times_to_measure(task_on("{cpu: 3, gpu: measured}")));
  EXPECT_FALSE(has_times_to_measure(task_on("{cpu: 3}")));
  EXPECT_TRUE(has_times_to_measure(system_with("[cpu]")));
  const System again = system_in(to_json(system_with("{cpu: measured, gpu: 2}"), ""), "s");
  EXPECT_EQ(again.groups[0].graph.tasks[0].on, task_on("{cpu: measured, gpu: 2}").on);
}

TEST(task_times, processors_are_meant_by_name_device_or_kind) {
  const board::Board board = board_of_two_speeds();
  EXPECT_EQ(processors_of(task_on("[core1]"), board), (std::vector<std::size_t>{1}));
  EXPECT_EQ(processors_of(task_on("[big]"), board), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(processors_of(task_on("[gpu, cpu]"), board), (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_NE(test::message_of([&] {
              processors_of(task_on("[dla]"), board);
            }).find("no processor, device or kind of this name"),
            std::string::npos);
}

TEST(task_times, equal_processors_get_the_worst_of_them_and_a_kind_is_split_by_device) {
  const board::Board board = board_of_two_speeds();
  GraphTask task = task_on("{cpu: measured, gpu: 7}");
  fill_in(task, board,
          {{0, Time(10), Time(8), Time(5)},
           {1, Time(12), Time(7), Time(4)},
           {2, Time(30), Time(20), Time(10)}});
  ASSERT_EQ(task.on.size(), 3u);
  EXPECT_EQ(task.on[0], (TimesOn{"big", Time(12), Time(8), Time(4)}));
  EXPECT_EQ(task.on[1], (TimesOn{"little", Time(30), Time(20), Time(10)}));
  EXPECT_EQ(task.on[2].worst, Time(7'000'000));  // the file's own counts
}

TEST(task_times, a_processor_that_was_not_measured_is_named) {
  GraphTask task = task_on("[big]");
  EXPECT_NE(test::message_of([&] {
              fill_in(task, board_of_two_speeds(), {{0, Time(10), Time(8), Time(5)}});
            }).find("task 'a' was not measured on 'core1'"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::system
