#include "explore/configuration/mapping_options.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "board/shipped.h"

namespace millrace::explore {
namespace {

/// Processors of these devices, the restricted ones run only whole subnets.
board::Board board_with(const std::vector<std::pair<int, bool>>& devices) {
  board::Board board;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    board::Device device;
    device.name = "device" + std::to_string(d);
    device.kind = board::ProcessorKind::npu;
    for (int p = 0; p < devices[d].first; ++p)
      device.processors.push_back(device.name + "." + std::to_string(p));
    if (devices[d].second) device.limits.granularity = board::Granularity::subnet;
    board.devices.push_back(device);
    for (const board::Processor& processor : board::processors_of(device))
      board.processors.push_back(processor);
  }
  return board;
}

std::map<std::string, std::string> texts_of(const board::Board& board) {
  std::map<std::string, std::string> texts;
  for (const MappingOption& option : mapping_options(board))
    texts[option.name] = text_of(option.stages, board);
  return texts;
}

TEST(MappingOptions, of_one_gpu_and_two_dlas_are_those_of_the_thesis) {
  const board::Board board =
      board::only(board::find_board("jetson-agx-xavier"), {"gpu", "dla0", "dla1"});
  const std::map<std::string, std::string> expected{{"A", "dla0 - gpu"},
                                                    {"B", "gpu - dla0 - gpu"},
                                                    {"C", "dla0 - dla1 - gpu"},
                                                    {"D", "gpu - dla0 - dla1 - gpu"},
                                                    {"E", "gpu"},
                                                    {"PND-A", "dla0+dla1 - gpu"},
                                                    {"PND-B", "gpu - dla0+dla1 - gpu"}};
  EXPECT_EQ(texts_of(board), expected);
  EXPECT_EQ(mapping_options(board).size(), expected.size());
}

TEST(MappingOptions, do_not_depend_on_the_order_of_the_processors) {
  const board::Board board =
      board::only(board::find_board("jetson-agx-xavier"), {"dla0", "dla1", "gpu"});
  EXPECT_EQ(texts_of(board).at("D"), "gpu - dla0 - dla1 - gpu");
  EXPECT_EQ(mapping_options(board).size(), 7u);
}

TEST(MappingOptions, of_two_equal_cores_name_no_mirror_images) {
  const board::Board board = board_with({{2, false}});
  std::vector<std::string> texts;
  for (const MappingOption& option : mapping_options(board)) texts.push_back(option.name);
  const std::string a = "device0.0", b = "device0.1";
  EXPECT_EQ(texts,
            (std::vector<std::string>{a, a + "+" + b, a + " - " + b, a + " - " + b + " - " + a,
                                      a + " - " + b + " - " + a + " - " + b}));
}

TEST(MappingOptions, of_a_core_and_a_restricted_one_end_on_the_unrestricted) {
  const board::Board board = board_with({{1, false}, {1, true}});
  std::set<std::string> names;
  for (const MappingOption& option : mapping_options(board)) {
    names.insert(option.name);
    EXPECT_EQ(option.stages.back(), ProcessorGroup{ProcessorId(0)}) << option.name;
  }
  EXPECT_EQ(names, (std::set<std::string>{"A", "B", "E",
                                          "device1.0 - device0.0 - device1.0 - device0.0"}));
}

void expect_rules(const MappingOption& option) {
  EXPECT_LE(option.stages.size(), most_stages);
  std::map<ProcessorId, int> uses;
  std::set<std::size_t> groups;
  for (const ProcessorGroup& group : option.stages) {
    for (const ProcessorId processor : group) ++uses[processor];
    if (group.size() > 1) groups.insert(group.size());
  }
  EXPECT_LE(groups.size(), 1u) << option.name;
  for (const auto& [processor, count] : uses) {
    if (count == 1) continue;
    EXPECT_EQ(count, 2) << option.name;
    EXPECT_EQ(option.stages.front(), ProcessorGroup{processor}) << option.name;
    EXPECT_EQ(option.stages.back(), ProcessorGroup{processor}) << option.name;
  }
}

TEST(MappingOptions, of_large_boards_are_bounded_and_obey_the_rules) {
  for (const auto& devices : std::vector<std::vector<std::pair<int, bool>>>{
           {{16, false}}, {{8, false}, {1, false}, {2, true}}, {{2, true}, {3, true}}}) {
    const auto options = mapping_options(board_with(devices));
    EXPECT_LE(options.size(), most_options);
    EXPECT_FALSE(options.empty());
    for (const MappingOption& option : options) expect_rules(option);
  }
}

}  // namespace
}  // namespace millrace::explore
