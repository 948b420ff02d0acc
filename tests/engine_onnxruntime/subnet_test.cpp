// What the tests of all engines do not see: a whole network, attributed times, errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

#include "base/error.h"
#include "engine/plugin/plugin.h"
#include "formats/read.h"
#include "formats/zoo.h"
#include "network/evaluate/evaluate.h"
#include "network/random_values.h"
#include "network/simplify/simplify.h"
#include "support/network_builder.h"

namespace millrace::test {
namespace {

using namespace engine;

using network::Array;
using network::Network;

class OnnxSubnets : public testing::Test {
 protected:
  void SetUp() override {
    if (const Verdict start = plugin::can_start("onnxruntime", {}); !start)
      GTEST_SKIP() << start.reason();
    engine_ = plugin::make("onnxruntime", {});
  }

  const board::Board board_ = board::this_machine();
  std::unique_ptr<Engine> engine_;
};

/// A subnet of a whole network, and memory for its outputs.
struct Whole {
  Whole(Engine& engine, const Network& network, const board::Processor& processor)
      : inputs(network::random_inputs(network, 5)),
        subnet(engine.prepare(whole_network(network, processor))) {
    for (const Array& input : inputs) in.push_back(input.memory->data());
    for (const Port& port : subnet->outputs())
      out.push_back(outputs.emplace_back(port.layout.size).data());
  }

  std::vector<Array> inputs;
  std::unique_ptr<Subnet> subnet;
  std::vector<network::Buffer> outputs;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
};

Network zoo_network(const char* name) {
  return network::simplify(formats::read_onnx(formats::zoo_model(name), name, {}));
}

double largest_error(const network::Buffer& found, const Array& expected) {
  const auto b = expected.values<float>();
  const auto* a = reinterpret_cast<const float*>(found.data());
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference = std::max(difference, std::fabs(static_cast<double>(a[i] - b[i])));
    largest = std::max(largest, std::fabs(static_cast<double>(b[i])));
  }
  return difference / largest;
}

TEST_F(OnnxSubnets, a_network_gives_the_results_of_the_loops_on_one_core_and_on_all) {
  const Network network = zoo_network("squeezenet1_1");
  for (const board::Processor& processor : {board_.processors.front(), board::all_cores(board_)}) {
    Whole whole(*engine_, network, processor);
    whole.subnet->run(whole.in, whole.out);
    const std::vector<Array> expected = network::evaluate(network, whole.inputs);
    EXPECT_LE(largest_error(whole.outputs[0], expected[0]), 1e-4) << processor.name;
  }
}

TEST_F(OnnxSubnets, times_are_of_groups_that_cover_each_layer_once) {
  const Network network = zoo_network("squeezenet1_1");
  Whole whole(*engine_, network, board_.processors.front());
  const std::vector<GroupTime> times = whole.subnet->run_timed(whole.in, whole.out);
  std::vector<LayerId> layers;
  for (const GroupTime& group : times)
    layers.insert(layers.end(), group.layers.begin(), group.layers.end());
  std::sort(layers.begin(), layers.end());
  EXPECT_EQ(layers, whole_network(network, board_.processors.front()).layers);
  // 26 convolutions, each with what follows it, and no two in one group.
  EXPECT_GE(times.size(), 26u);
  for (const GroupTime& group : times) {
    const auto convolutions = std::ranges::count_if(group.layers, [&](LayerId layer) {
      return std::holds_alternative<network::Conv>(network[layer].op);
    });
    EXPECT_LE(convolutions, 1) << network[group.layers.front()].name;
  }
}

TEST_F(OnnxSubnets, other_memory_may_be_given_at_each_run) {
  NetworkBuilder builder;
  builder.output(builder.unary(network::UnaryKind::relu, builder.input({4})));
  const Network network = builder.build();
  Whole whole(*engine_, network, board_.processors.front());
  for (const float value : {1.0f, 2.0f, 3.0f}) {
    const std::vector<float> values(4, value);
    const Array input = network::make_array<float>(network::DataType::float32, {4}, values);
    network::Buffer output{Bytes{16}};
    const std::vector<const std::byte*> in{input.memory->data()};
    const std::vector<std::byte*> out{output.data()};
    whole.subnet->run(in, out);
    EXPECT_EQ(reinterpret_cast<const float*>(output.data())[3], value);
  }
}

TEST_F(OnnxSubnets, are_prepared_and_run_by_several_threads_at_once) {
  const Network network = zoo_network("squeezenet1_1");
  const Array expected = network::evaluate(network, network::random_inputs(network, 5)).front();
  std::array<double, 4> errors{};
  {
    std::vector<std::jthread> threads;
    for (double& error : errors)
      threads.emplace_back([&] {
        Whole whole(*engine_, network, board_.processors.front());
        for (int i = 0; i < 3; ++i) whole.subnet->run(whole.in, whole.out);
        error = largest_error(whole.outputs[0], expected);
      });
  }
  for (const double error : errors) EXPECT_LE(error, 1e-4);
}

TEST_F(OnnxSubnets, of_a_gpu_are_right_though_several_threads_make_and_run_them) {
  const std::vector<ReachedDevice> reached = plugin::devices("onnxruntime", {});
  if (reached.empty()) GTEST_SKIP() << "no GPU is reached";
  const board::Processor gpu = board::processors_of(reached.front().device).front();
  ASSERT_TRUE(engine_->traits(gpu));
  EXPECT_EQ(engine_->traits(gpu)->granularity, board::Granularity::subnet);
  EXPECT_TRUE(engine_->traits(gpu)->serialised);
  NetworkBuilder builder;
  const network::Window window{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  builder.output(builder.conv(builder.input({1, 8, 6, 6}), 8, window));
  const Network network = builder.build();
  const Array expected = network::evaluate(network, network::random_inputs(network, 5)).front();
  std::array<double, 4> errors{};
  {
    std::vector<std::jthread> threads;
    for (double& error : errors)
      threads.emplace_back([&] {
        Whole whole(*engine_, network, gpu);
        for (int i = 0; i < 3; ++i) whole.subnet->run(whole.in, whole.out);
        error = largest_error(whole.outputs[0], expected);
      });
  }
  for (const double error : errors) EXPECT_LE(error, 1e-5);
}

TEST_F(OnnxSubnets, a_failing_run_names_the_function_and_the_processor) {
  NetworkBuilder builder;
  const TensorId wrong = builder.constant(network::make_array<std::int64_t>(
      network::DataType::int64, {1}, std::vector<std::int64_t>{7}));
  builder.output(builder.layer(network::Gather{0}, {builder.input({4}), wrong}, {1}));
  const Network network = builder.build();
  try {
    Whole whole(*engine_, network, board_.processors.front());
    whole.subnet->run(whole.in, whole.out);
    FAIL() << "no error";
  } catch (const EngineError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("the plug-in onnxruntime in run() for cpu: "), std::string::npos) << text;
    EXPECT_NE(text.find("ONNX Runtime reports: "), std::string::npos) << text;
  }
}

TEST_F(OnnxSubnets, run_on_no_processor_that_is_not_reached) {
  NetworkBuilder builder;
  builder.output(builder.unary(network::UnaryKind::relu, builder.input({4})));
  const Network network = builder.build();
  const board::Processor npu{"npu7", board::ProcessorKind::npu, {}};
  EXPECT_FALSE(engine_->traits(npu));
  const Verdict verdict = engine_->supports(network, LayerId(0), npu);
  EXPECT_NE(verdict.reason().find("does not reach npu7"), std::string::npos)
      << verdict.reason();
}

}  // namespace
}  // namespace millrace::test
