#include "profile/measure.h"

#include <gtest/gtest.h>

#include "engine/registry.h"

namespace millrace::profile {
namespace {

/// input -> relu -> sigmoid -> output
network::Network two_layers() {
  network::Network network;
  network.name = "two";
  for (const char* name : {"input", "a", "b"})
    network.tensors.push_back({name, network::DataType::float32, {64, 64}, {}});
  network.inputs = {TensorId(0)};
  network.outputs = {TensorId(2)};
  using network::Unary;
  network.layers = {{"relu", Unary{network::UnaryKind::relu}, {TensorId(0)}, {TensorId(1)}},
                    {"sigmoid", Unary{network::UnaryKind::sigmoid}, {TensorId(1)}, {TensorId(2)}}};
  return network;
}

MeasureOptions quick() {
  MeasureOptions options;
  options.least = 3;
  options.most = 5;
  options.duration = Time{};
  return options;
}

TEST(Measure, every_layer_gets_times_on_every_processor) {
  const auto engine = engine::make_engine("reference");
  const board::Board board = board::this_machine();
  const network::Network network = two_layers();
  const Profile profile = measure(network, board, *engine, quick());
  EXPECT_EQ(profile.network, network::hash_of(network));
  ASSERT_EQ(profile.processors.size(), board.processors.size());
  for (const ProcessorProfile& p : profile.processors) {
    ASSERT_EQ(p.layers.size(), 2u);
    for (const LayerTimes& layer : p.layers) {
      EXPECT_EQ(layer.together.count, 3);
      EXPECT_GT(layer.together.median, Time{});
      EXPECT_GT(layer.alone.median, Time{});
    }
    EXPECT_GE(p.whole.median, p.layers[1].together.median);
  }
  EXPECT_GT(profile.tokens.read_ns, 0);
  EXPECT_GT(profile.tokens.write_ns, 0);
}

/// Two processors that are one core of this machine, wherever the tests run.
board::Board twice_the_same_core() {
  board::Board board = board::this_machine();
  board.processors.resize(1);
  board.processors.push_back(board.processors.front());
  board.processors.back().name = "again";
  return board;
}

/// How often somebody worked while another one did, if each of them does so many runs meanwhile.
int times_that_others_work(int runs) {
  const auto engine = engine::make_engine("reference");
  MeasureOptions options = quick();
  int times = 0;
  options.under_background_load = [&](std::span<const std::function<void()>> others,
                                const std::function<void()>& work) {
    ++times;
    EXPECT_EQ(others.size(), 1u);
    for (int i = 0; i < runs; ++i) others.front()();
    work();
  };
  const Profile profile = measure(two_layers(), twice_the_same_core(), *engine, options);
  for (const ProcessorProfile& p : profile.processors)
    for (const LayerTimes& layer : p.layers) {
      EXPECT_GE(layer.contended.count, options.least);
      EXPECT_GT(layer.contended.median, Time{});
    }
  return times;
}

TEST(Measure, contention_is_measured_on_each_while_all_others_work) {
  EXPECT_EQ(times_that_others_work(1), 2);
}

TEST(Measure, contention_is_measured_on_all_at_once) { EXPECT_EQ(times_that_others_work(3), 1); }

TEST(Measure, without_others_there_is_no_contention) {
  const auto engine = engine::make_engine("reference");
  MeasureOptions options = quick();
  options.under_background_load = [](std::span<const std::function<void()>>,
                               const std::function<void()>&) {
    ADD_FAILURE() << "nobody to contend with";
  };
  board::Board board = board::this_machine();
  board.processors.resize(1);
  const Profile profile = measure(two_layers(), board, *engine, options);
  EXPECT_EQ(profile.processors[0].layers[0].contended, Statistics{});
}

TEST(Measure, a_subnet_is_measured_in_one_piece) {
  const auto engine = engine::make_engine("reference");
  const network::Network network = two_layers();
  const auto request = engine::whole_network(network, board::this_machine().processors.front());
  const Statistics s = measure_subnet(request, *engine, quick());
  EXPECT_EQ(s.count, 3);
  EXPECT_GT(s.median, Time{});
}

}  // namespace
}  // namespace millrace::profile
