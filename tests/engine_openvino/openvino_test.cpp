// What only this engine does: shares of time from OpenVINO's counters, one or two precisions, the
// calling thread, and what it says where OpenVINO is missing.
#include "engine/openvino/openvino.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "formats/read.h"
#include "formats/zoo.h"
#include "network/evaluate/evaluate.h"
#include "support/network_builder.h"

namespace millrace::engine::openvino {
namespace {

using board::Precision;
using board::Variant;
using network::Array;
using network::Network;
using network::UnaryKind;

network::Window window(std::int64_t size) {
  const std::int64_t pad = size / 2;
  return {{size, size}, {1, 1}, {1, 1}, {pad, pad}, {pad, pad}};
}

/// Two blocks, each a convolution and what follows it.
Network two_blocks() {
  test::NetworkBuilder b;
  TensorId x = b.input({1, 16, 32, 32});
  x = b.unary(UnaryKind::relu, b.conv(x, 32, window(3)));
  x = b.unary(UnaryKind::relu, b.conv(x, 32, window(3)));
  b.output(x);
  return b.build();
}

const board::Processor& first_core() {
  static const board::Board board = board::this_machine();
  return board.processors.front();
}

double difference(const network::Buffer& memory, std::span<const float> expected) {
  const auto* const found = reinterpret_cast<const float*>(memory.data());
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double value = static_cast<double>(expected[i]);
    const double distance = std::fabs(static_cast<double>(found[i]) - value);
    if (!(distance <= difference)) difference = distance;
    largest = std::max(largest, std::fabs(value));
  }
  return difference / largest;
}

/// Runs one frame again and again in memory of its own.
class Frame {
 public:
  Frame(Subnet& subnet, const Network& network) : subnet_(subnet) {
    Random random(5);
    inputs_ = test::random_inputs(random, network);
    for (const Array& input : inputs_) in_.push_back(input.memory->data());
    for (const Port& port : subnet.outputs())
      out_.push_back(results_.emplace_back(port.layout.size).data());
  }

  void run() { subnet_.run(in_, out_); }
  std::vector<GroupTime> run_timed() { return subnet_.run_timed(in_, out_); }

  /// The largest difference from the plain loops in any output, over that output's largest value.
  double error(const Network& network) const {
    const std::vector<Array> expected = network::evaluate(network, inputs_);
    double error = 0;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const auto at = std::ranges::find(network.outputs, subnet_.outputs()[i].tensor);
      const auto index = static_cast<std::size_t>(at - network.outputs.begin());
      error = std::max(error, difference(results_[i], expected[index].values<float>()));
    }
    return error;
  }

 private:
  Subnet& subnet_;
  std::vector<Array> inputs_;
  std::vector<network::Buffer> results_;
  std::vector<const std::byte*> in_;
  std::vector<std::byte*> out_;
};

double error_of(const Network& network, const std::vector<Variant>& variants) {
  const auto engine = make({});
  SubnetRequest request = whole_network(network, first_core());
  request.variants = variants;
  const auto subnet = engine->prepare(request);
  Frame frame(*subnet, network);
  frame.run();
  return frame.error(network);
}

class OpenVinoTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const Verdict verdict = can_start({}); !verdict) GTEST_SKIP() << verdict.reason();
  }
};

TEST_F(OpenVinoTest, a_network_of_the_zoo_agrees_with_the_loops) {
  const Network network =
      formats::read_onnx(formats::zoo_model("yolov4_tiny", 1, 64), "yolov4_tiny", {});
  EXPECT_LE(error_of(network, {}), 1e-3);
}

TEST_F(OpenVinoTest, what_openvino_fuses_is_one_group_that_names_its_kernel) {
  const Network network = two_blocks();
  const auto engine = make({});
  const auto subnet = engine->prepare(whole_network(network, first_core()));
  Frame frame(*subnet, network);
  std::vector<GroupTime> groups = frame.run_timed();
  ASSERT_EQ(groups.size(), 2u);
  for (int run = 0; run < 20; ++run) {  // other programs can only make one longer
    const std::vector<GroupTime> again = frame.run_timed();
    for (std::size_t i = 0; i < 2; ++i) groups[i].time = std::min(groups[i].time, again[i].time);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(groups[i].layers, (std::vector{LayerId(2 * i), LayerId(2 * i + 1)}));
    EXPECT_TRUE(groups[i].kernel.starts_with("openvino:")) << groups[i].kernel;
    EXPECT_GT(groups[i].kernel.size(), std::string("openvino:").size());
    EXPECT_GT(groups[i].time, Time{});
  }
  // The second convolution multiplies twice as often.
  EXPECT_GT(groups[1].time, groups[0].time);
}

TEST_F(OpenVinoTest, bfloat16_is_offered_where_it_differs_and_stays_within_its_bound) {
  const Network network = two_blocks();
  const auto engine = make({});
  const auto ways = engine->variants(network, LayerId(0), first_core());
  ASSERT_FALSE(ways.empty());
  EXPECT_EQ(ways.front(), Variant{});
  EXPECT_EQ(engine->variants(network, LayerId(1), first_core()), std::vector{Variant{}});
  if (ways.size() == 1) GTEST_SKIP() << "this processor has no bfloat16 instructions";
  ASSERT_EQ(ways[1].precision, Precision::bf16);
  const std::vector<Variant> all(network.layers.size(), ways[1]);
  const double error = error_of(network, all);
  EXPECT_GT(error, 1e-4);
  EXPECT_LE(error, 2e-2);
}

TEST_F(OpenVinoTest, layers_of_two_precisions_run_in_one_subnet) {
  const Network network = two_blocks();
  const auto engine = make({});
  if (engine->variants(network, LayerId(0), first_core()).size() == 1)
    GTEST_SKIP() << "this processor has no bfloat16 instructions";
  std::vector<Variant> mixed(network.layers.size());
  mixed[2].precision = Precision::bf16;
  const double error = error_of(network, mixed);
  EXPECT_GT(error, 1e-4);
  EXPECT_LE(error, 2e-2);
}

TEST_F(OpenVinoTest, a_variant_that_openvino_lacks_is_refused) {
  const Network network = two_blocks();
  const auto engine = make({});
  SubnetRequest request = whole_network(network, first_core());
  request.variants.assign(network.layers.size(), {Precision::f32, "winograd"});
  EXPECT_THROW(engine->prepare(request), InputError);
  request.variants.assign(network.layers.size(), {Precision::int8, {}});
  EXPECT_THROW(engine->prepare(request), InputError);
}

std::int64_t nanoseconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
}

TEST_F(OpenVinoTest, on_one_core_all_work_is_on_the_calling_thread) {
  const Network network = two_blocks();
  const auto engine = make({});
  const auto subnet = engine->prepare(whole_network(network, first_core()));
  Frame frame(*subnet, network);
  frame.run();
  const std::int64_t all = nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID);
  const std::int64_t here = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < 100; ++i) frame.run();
  const auto mine = static_cast<double>(nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) - here);
  const auto total = static_cast<double>(nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID) - all);
  EXPECT_GE(mine, 0.95 * total);
}

TEST_F(OpenVinoTest, a_device_that_is_not_there_is_refused_with_those_there_are) {
  const Network network = two_blocks();
  const auto engine = make({});
  const board::Processor absent{"gpu7", board::ProcessorKind::gpu, {}};
  const Verdict verdict = engine->supports(network, LayerId(0), absent);
  EXPECT_FALSE(verdict);
  EXPECT_NE(verdict.reason().find("CPU"), std::string::npos) << verdict.reason();
  EXPECT_FALSE(engine->traits(absent).has_value());
  EXPECT_THROW(engine->prepare(whole_network(network, absent)), InputError);
}

TEST_F(OpenVinoTest, a_setting_that_openvino_does_not_know_names_layer_and_processor) {
  const Network network = two_blocks();
  EngineOptions options;
  options.settings["openvino"]["NO_SUCH_PROPERTY"] = "1";
  const auto engine = make(options);
  try {
    engine->prepare(whole_network(network, first_core()));
    FAIL() << "no error";
  } catch (const EngineError& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("layer0 on " + first_core().name)) << text;
    EXPECT_NE(text.find("NO_SUCH_PROPERTY"), std::string::npos) << text;
  }
}

TEST(OpenVinoLibrary, a_file_that_cannot_be_loaded_is_a_reason) {
  EngineOptions options;
  options.libraries["openvino"] = "/no/such/libopenvino.so";
  const Verdict verdict = can_start(options);
  EXPECT_FALSE(verdict);
  EXPECT_NE(verdict.reason().find("/no/such/libopenvino.so"), std::string::npos)
      << verdict.reason();
  EXPECT_THROW(make(options), EngineError);
}

}  // namespace
}  // namespace millrace::engine::openvino
