// Weights and the memories of boards.
#include "explore/mapping/memory.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "explore/problems.h"
#include "support/message_of.h"

namespace millrace::explore {
namespace {

/// Products of a row of so many numbers with matrices; each makes as many as the next one reads.
network::Network products_of(const std::vector<std::int64_t>& widths) {
  network::Network network;
  network.name = "products";
  const auto tensor = [&](const std::string& name, network::Shape shape) {
    network.tensors.push_back({name, network::DataType::float32, std::move(shape), {}});
    return TensorId(network.tensors.size() - 1);
  };
  TensorId row = tensor("row", {1, widths.front()});
  network.inputs = {row};
  for (std::size_t i = 1; i < widths.size(); ++i) {
    const network::Shape shape{widths[i], widths[i - 1]};
    const TensorId matrix = tensor("matrix" + std::to_string(i), shape);
    network.tensors[matrix.index].constant =
        make_array(network::DataType::float32, shape,
                   network::Buffer(network::size_of(network::DataType::float32) *
                                   network::element_count(shape)));
    const std::string name = "fc" + std::to_string(i);
    const TensorId made = tensor(name, {1, widths[i]});
    network.layers.push_back({name, network::Gemm{.transpose_b = true}, {row, matrix}, {made}});
    row = made;
  }
  network.outputs = {row};
  return network;
}

constexpr std::int64_t kibibyte = 1024;

/// Two boards of one core each.
board::Board boards_of(std::int64_t first, std::int64_t second, const char* source = "system") {
  board::Board board;
  board.name = "pair";
  for (const auto& [name, size] : {std::pair("first", first), std::pair("second", second)}) {
    board::Device device;
    device.name = name;
    device.processors = {name};
    board.devices.push_back(device);
    board.processors.push_back({name, board::ProcessorKind::npu, {}});
    board.memories.push_back({name, Bytes{size * kibibyte}, 0, {name}, {}, {source, {}}});
  }
  return board;
}

/// 256, 1024 and 256 KiB.
network::Network with_a_large_layer() { return products_of({256, 256, 1024, 64}); }

TEST(Memory, a_layer_that_no_board_holds_is_divided) {
  EXPECT_EQ(division_for(with_a_large_layer(), boards_of(1024, 1024)),
            (network::Division{{"fc2", 2}}));
}

TEST(Memory, nothing_is_divided_where_whole_layers_find_room) {
  EXPECT_EQ(division_for(with_a_large_layer(), boards_of(1024, 1536)), network::Division{});
  EXPECT_EQ(division_for(with_a_large_layer(), boards_of(4096, 4096)), network::Division{});
}

TEST(Memory, nothing_is_divided_where_that_does_not_help) {
  EXPECT_EQ(division_for(with_a_large_layer(), boards_of(512, 512)), network::Division{});
  board::Board one = boards_of(1024, 1024);
  one.processors.pop_back();
  EXPECT_EQ(division_for(with_a_large_layer(), one), network::Division{});
}

TEST(Memory, what_is_divided_is_said_and_has_a_mapping) {
  struct Listener : OperationListener {
    void note(const std::string& text) override { said = text; }
    std::string said;
  } listener;
  network::Network network = with_a_large_layer();
  const board::Board board = boards_of(1024, 1024);
  fit_to_memories(network, board, {.listener = &listener});
  EXPECT_EQ(listener.said,
            "fc2 is divided into 2 parts, as its weights of 1.00 MiB do not fit in "
            "the boards' memories beside those of the other layers");
  ASSERT_EQ(network.layers.size(), 5u);
  const auto mapping = mapping_by_memory(test::chain_of({1, 1, 1, 1, 1}, 2), network, board);
  ASSERT_TRUE(mapping);
  // fc1, fc2/part1, fc2/part2, fc2/joined, fc3
  std::vector<std::size_t> processors;
  for (const ProcessorId each : mapping->processors) processors.push_back(each.index);
  EXPECT_EQ(processors, (std::vector<std::size_t>{0, 0, 1, 1, 1}));
}

TEST(Memory, what_all_boards_together_do_not_hold_is_refused_with_what_is_missing) {
  network::Network network = with_a_large_layer();
  const auto refusal = [&](const board::Board& board) {
    return millrace::test::message_of([&] { fit_to_memories(network, board, {}); });
  };
  EXPECT_EQ(
      refusal(boards_of(512, 1024)),
      "products: its weights need 1.50 MiB of the memories first and second, which have 1.50 MiB, "
      "a quarter of it for other things: 384 KiB are missing; run it on more boards: "
      "docs/methods/clusters.md");
  board::Board unknown = boards_of(512, 512);
  unknown.memories.pop_back();
  EXPECT_EQ(fit_to_memories(network, unknown, {}), network::Division{});
}

TEST(Memory, a_board_that_has_no_room_for_two_networks_measures_one_at_a_time) {
  EXPECT_TRUE(is_large_for(with_a_large_layer(), boards_of(2048, 8192)));
  EXPECT_FALSE(is_large_for(with_a_large_layer(), boards_of(4096, 8192)));
}

}  // namespace
}  // namespace millrace::explore
