#include "profile/cost_model.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "board/board_file.h"
#include "profile/fit.h"
#include "profile/limits.h"
#include "support/message_of.h"
#include "support/network_builder.h"

namespace millrace::profile {
namespace {

using board::Precision;
using std::chrono::microseconds;

/// A core of 100 GOPS and 10 GB/s, and an NPU that runs products and nothing else, in float16.
board::Board small_board(const std::string& more = "") {
  return board::parse_board(R"(format: 1
name: small
devices:
  - name: cpu
    kind: cpu
    cores: [0]
    bandwidth_gb_per_s: 10
    units: [{name: u, peak_gops: {f32: 100, f16: 100}}]
    costs: {launch_us: 5}
    efficiency:
      - {operator: other, arithmetic: 0.5, memory: 0.8}
      - {operator: MatMul, arithmetic: 0.25, memory: 0.5}
  - name: npu
    kind: npu
    bandwidth_gb_per_s: 20
    units: [{name: u, peak_gops: {f16: 1000}}]
    limits: {operators: [MatMul], granularity: subnet}
    costs: {launch_us: 50, border_us: 7, transfer_gb_per_s: 2}
)" + more,
                            "small.yaml");
}

/// A product [1,1000] x [1000,1000], then a Relu, and a Softmax.
network::Network product_and_softmax() {
  test::NetworkBuilder builder;
  const TensorId x = builder.input({1, 1000});
  const TensorId y =
      builder.layer(network::MatMul{}, {x, builder.constant({1000, 1000})}, {1, 1000});
  const TensorId z = builder.unary(network::UnaryKind::relu, y);
  builder.output(builder.layer(network::Softmax{1, 2}, {z}, {1, 1000}));
  return builder.build();
}

CostModel core(const board::Board& board) {
  return CostModel(board, board.processors[0], Precision::f32);
}

TEST(CostModel, is_launch_and_the_slower_of_arithmetic_and_memory) {
  const board::Board board = small_board();
  // 2e6 operations at half of 100e9 are 40 us; 1e5 bytes at 0.8 of 10e9 are 12.5 us
  EXPECT_EQ(core(board).time({{"Add"}, 2e6, 1e5}), microseconds(45));
  EXPECT_EQ(core(board).time({{"Add"}, 2e5, 8e5}), microseconds(105));
}

// Its nanoseconds would not fit into their type.
TEST(CostModel, refuses_a_time_of_more_than_twelve_days) {
  const board::Board board = small_board();
  EXPECT_EQ(test::message_of([&] {
              core(board).time({{"Add"}, 1e300, 1e5});
            }),
            "cpu: a layer would take 2e+289 s there, more than twelve days; check its units' "
            "operations and its memory's bytes, which are per second");
}

TEST(CostModel, takes_the_most_special_share_that_the_board_names) {
  const board::Board board = small_board();
  EXPECT_EQ(core(board).time({{"MatMul"}, 1e6, 0}), microseconds(45));
  EXPECT_EQ(core(board).time({{"MatMul.any", "MatMul"}, 1e6, 0}), microseconds(45));
}

TEST(CostModel, counts_the_launch_of_a_subnet_not_with_its_layers) {
  const board::Board board = small_board();
  const CostModel npu(board, board.processors[1], Precision::f16);
  // nothing said: half of 1000e9
  EXPECT_EQ(npu.time({{"MatMul"}, 1e6, 0}), microseconds(2));
  EXPECT_EQ(npu.borders().launch, microseconds(50));
  EXPECT_EQ(npu.borders().border, microseconds(7));
  EXPECT_EQ(npu.borders().of_ends, true);
  EXPECT_DOUBLE_EQ(npu.borders().read_ns, 1);  // 2 bytes at 2 GB/s
}

TEST(CostModel, refuses_what_the_limits_exclude_with_the_reason) {
  const board::Board board = small_board();
  const CostModel half(board, board.processors[1], Precision::f16);
  EXPECT_TRUE(half.supports(network::MatMul{}));
  EXPECT_TRUE(half.supports(network::Reshape{}));
  EXPECT_EQ(half.supports(network::Lrn{}).reason(), "its SDK does not run LRN");
  const CostModel single(board, board.processors[1], Precision::f32);
  EXPECT_EQ(single.supports(network::MatMul{}).reason(), "has no unit for f32");
}

TEST(Limits, take_layers_out_of_a_profile_and_groups_apart) {
  const auto network = product_and_softmax();
  const board::Board board = small_board();
  // as if measured where there are no limits
  Profile profile = modelled(network, board::only(board, {"core0"}), {Precision::f16});
  profile.processors.push_back(profile.processors[0]);
  profile.processors[1].processor = board.processors[1];
  const ProcessorProfile& cpu = profile.processors[0];
  ASSERT_EQ(cpu.layers[1].fused_into, LayerId(0));
  const Profile limited = within_limits(profile, network, board);
  EXPECT_EQ(limited.processors[0], cpu);
  const auto& layers = limited.processors[1].layers;
  EXPECT_EQ(layers[0].refusal, "");
  EXPECT_EQ(layers[0].together, cpu.layers[0].alone) << "no longer with the Relu";
  EXPECT_EQ(layers[1].refusal, "its SDK does not run Relu");
  EXPECT_TRUE(layers[1].refused_by_board);
  EXPECT_FALSE(layers[1].fused_into);
  EXPECT_EQ(layers[2].refusal, "its SDK does not run Softmax");
}

TEST(Modelled, marks_what_it_makes_and_what_cannot_run) {
  const Profile profile = modelled(product_and_softmax(), small_board(), {Precision::f16});
  EXPECT_TRUE(profile.modelled);
  const ProcessorProfile& npu = profile.processors.at(1);
  EXPECT_EQ(npu.layers[0].refusal, "");
  EXPECT_EQ(npu.layers[1].refusal, "its SDK does not run Relu");
  // the Relu cannot follow the product onto the NPU, so it is no part of its kernel
  EXPECT_FALSE(npu.layers[1].fused_into);
}

TEST(Modelled, runs_what_follows_element_by_element_in_one_kernel) {
  const Profile profile = modelled(product_and_softmax(), small_board(), {Precision::f32});
  const ProcessorProfile& cpu = profile.processors.at(0);
  EXPECT_EQ(cpu.layers[1].fused_into, LayerId(0));
  EXPECT_EQ(cpu.layers[1].together.median, Time{});
  EXPECT_EQ(cpu.whole.median, cpu.layers[0].together.median + cpu.layers[2].together.median);
}

TEST(Modelled, asks_for_a_processor_that_can_run_each_layer) {
  const board::Board npu = board::only(small_board(), {"npu"});
  EXPECT_EQ(test::message_of([&] { modelled(product_and_softmax(), npu, {Precision::f16}); }),
            "built: no processor of the board can run layer 'layer1' (Relu): npu: its SDK does not "
            "run Relu");
}

TEST(UsualGroups, join_what_can_run_in_the_same_places) {
  const network::Network network = product_and_softmax();
  const MayJoin everywhere(3, {true, true});
  EXPECT_EQ(usual_groups(network, everywhere)[1], LayerId(0));
  EXPECT_FALSE(usual_groups(network, everywhere)[2]);
  EXPECT_FALSE(usual_groups(network, {{true, true}, {true, false}, {true, true}})[1]);
}

TEST(LoadOf, a_group_counts_what_stays_inside_neither_as_read_nor_as_written) {
  const Load load = load_of(product_and_softmax(), {LayerId(0), LayerId(1)}, 4);
  EXPECT_EQ(load.kinds, std::vector<std::string>{"MatMul"});
  EXPECT_EQ(load.operations, 2e6 + 1000);
  EXPECT_EQ(load.bytes, 4.0 * (1000 + 1000 * 1000 + 1000));
}

TEST(KindsOf, tells_convolutions_apart) {
  test::NetworkBuilder builder;
  TensorId x = builder.input({1, 3, 20, 20});
  x = builder.conv(x, 8, test::window(3, {.pad = 1}));
  x = builder.conv(x, 8, test::window(3, {.pad = 1}));
  x = builder.conv(x, 8, test::window(3, {.pad = 1}), 8);
  x = builder.conv(x, 16, test::window(1));
  x = builder.conv(x, 16, test::window(3, {.stride = 2, .pad = 1}));
  builder.output(builder.conv(x, 16, test::window(3, {.stride = 2, .pad = 1})));
  const network::Network network = builder.build();
  std::vector<std::string> found;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    EXPECT_EQ(kinds_of(network, LayerId(i)).back(), "Conv");
    found.push_back(kinds_of(network, LayerId(i)).front());
  }
  EXPECT_EQ(found, (std::vector<std::string>{"Conv.image", "Conv.3x3", "Conv.depthwise", "Conv.1x1",
                                             "Conv.other", "Conv.few"}));
}

TEST(Fitted, finds_the_shares_that_made_the_samples) {
  std::vector<Sample> samples;
  for (const double size : {1e6, 2e6, 4e6}) {
    samples.push_back({{{"Conv"}, size, 0}, time_from_seconds(size / 50e9)});
    samples.push_back({{{"Concat"}, 0, size}, time_from_seconds(size / 2.5e9)});
  }
  board::Peaks peaks;
  peaks.operations[Precision::f32] = 100e9;
  peaks.bytes = 10e9;
  const board::Device device = fitted({}, samples, peaks, Precision::f32);
  ASSERT_EQ(device.efficiency.size(), 3u);
  for (const board::Efficiency& each : device.efficiency) {
    if (each.op == "Conv") {
      EXPECT_NEAR(each.arithmetic, 0.5, 0.02);
    }
    if (each.op == "Concat") {
      EXPECT_NEAR(each.memory, 0.25, 0.01);
    }
  }
  EXPECT_TRUE(device.units.empty());
}

TEST(Fitted, calls_what_is_faster_than_the_peak_a_unit_of_its_own) {
  std::vector<Sample> samples;
  for (const double size : {1e6, 1e7, 1e8})
    samples.push_back({{{"Conv"}, size, 0}, time_from_seconds(size / 200e9)});
  board::Peaks peaks;
  peaks.operations[Precision::f32] = 100e9;
  peaks.bytes = 10e9;
  const board::Device device = fitted({}, samples, peaks, Precision::f32);
  ASSERT_EQ(device.units.size(), 1u);
  EXPECT_EQ(device.units[0].name, "fast_algorithms");
  EXPECT_NEAR(device.units[0].operations.at(Precision::f32), 200e9, 8e9);
}

TEST(FittedToTotal, gives_the_published_time) {
  board::Board board = small_board();
  board = fitted_to_total(board, "cpu", {product_and_softmax(), microseconds(5000)});
  const Profile profile =
      modelled(product_and_softmax(), board::only(board, {"core0"}), {Precision::f32});
  EXPECT_NEAR(microseconds(5000).count() * 1e3,
              static_cast<double>(profile.processors[0].whole.median.count()), 100);
}

TEST(FittedToTotal, changes_one_precision_and_keeps_what_is_said_of_others) {
  const auto time_in = [](const board::Board& board, Precision precision) {
    return modelled(product_and_softmax(), board::only(board, {"core0"}), {precision})
        .processors[0]
        .whole.median;
  };
  const board::Board before = small_board();
  const board::Board after =
      fitted_to_total(before, "cpu", {product_and_softmax(), microseconds(5000), Precision::f16});
  EXPECT_NEAR(5e6, static_cast<double>(time_in(after, Precision::f16).count()), 100);
  EXPECT_EQ(time_in(after, Precision::f32), time_in(before, Precision::f32));
}

// The NPU has no float32, and runs products alone.
TEST(FittedToTotal, fits_a_processor_without_float32) {
  test::NetworkBuilder builder;
  builder.output(builder.layer(
      network::MatMul{}, {builder.input({1, 1000}), builder.constant({1000, 1000})}, {1, 1000}));
  const network::Network network = builder.build();
  const board::Board board =
      fitted_to_total(small_board(), "npu", {network, microseconds(1000), Precision::f16});
  const Profile profile = modelled(network, board::only(board, {"npu"}), {Precision::f16});
  const Time whole = profile.processors[0].whole.median + profile.processors[0].borders->launch;
  EXPECT_NEAR(1e6, static_cast<double>(whole.count()), 100);
  const std::string in_f32 = test::message_of([&] {
    fitted_to_total(small_board(), "npu", {network, microseconds(1000)});
  });
  EXPECT_NE(in_f32.find("npu: has no unit for f32"), std::string::npos) << in_f32;
}

TEST(Fitted, says_which_peak_is_missing) {
  board::Peaks peaks;
  peaks.operations[Precision::f16] = 100e9;
  peaks.bytes = 10e9;
  board::Device npu;
  npu.name = "npu";
  const std::string message = test::message_of([&] {
    fitted(npu, {{{{"Conv"}, 1e6, 0}, microseconds(10)}}, peaks, Precision::f32);
  });
  EXPECT_NE(message.find("npu: the board gives no peak in f32"), std::string::npos)
      << message;
}

TEST(FittedToTotal, refuses_what_no_share_of_the_peak_explains) {
  const auto fit = [](const std::string& device, Time time) {
    return test::message_of([&] {
      fitted_to_total(small_board(), device, {product_and_softmax(), time});
    });
  };
  EXPECT_NE(fit("cpu", microseconds(1)).find("correct the peaks or the bandwidth"),
            std::string::npos);
  EXPECT_NE(fit("cpi", microseconds(1)).find("did you mean 'cpu'?"), std::string::npos);
}

}  // namespace
}  // namespace millrace::profile
