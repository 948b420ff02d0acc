// Stages on a device with a memory of its own, beside stages on cores.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "engine/plugin/plugin.h"
#include "engine/reference/reference.h"
#include "faulty_engine.h"
#include "network/evaluate/evaluate.h"
#include "plan/build.h"
#include "profile/devices/transfer_times.h"
#include "runtime/session.h"
#include "support/network_builder.h"

namespace millrace::test {
namespace {

using network::Array;

/// A convolution, its rectified copy, a convolution of that, and the sum of both: the first, third
/// and last on the device, so that the first's result stays there.
network::Network residual() {
  NetworkBuilder b;
  const TensorId x = b.conv(b.input({1, 3, 9, 8}), 4, window(3, {.pad = 1}));
  const TensorId y = b.conv(b.unary(network::UnaryKind::relu, x), 4, window(3, {.pad = 1}));
  b.output(b.binary(network::BinaryKind::add, x, y));
  return b.build();
}

board::Board board_of(const std::vector<engine::ReachedDevice>& reached) {
  board::Board board;
  board.processors = {{"core0", board::ProcessorKind::cpu, {0}},
                      {"npu0", board::ProcessorKind::npu, {}}};
  for (const engine::ReachedDevice& each : reached) board.devices.push_back(each.device);
  return board;
}

std::size_t bytes_of(const network::Network& network, const std::vector<TensorId>& tensors) {
  std::size_t sum = 0;
  for (const TensorId tensor : tensors)
    sum += network[tensor].constant ? 0 : network[tensor].size().count;
  return sum;
}

class Device : public testing::TestWithParam<const char*> {
 protected:
  FaultyEngine faulty_{GetParam()};
  std::unique_ptr<engine::Engine> plugin_ = engine::plugin::make_from(faulty_.file(), {});
  std::unique_ptr<engine::Engine> reference_ = engine::reference::make();

  std::size_t moved() const {
    void* const library = ::dlopen(faulty_.file().c_str(), RTLD_NOLOAD | RTLD_NOW);
    const auto* const counted =
        static_cast<std::size_t*>(::dlsym(library, "millrace_faulty_moved"));
    ::dlclose(library);
    return __atomic_load_n(counted, __ATOMIC_RELAXED);
  }
};

TEST_P(Device, keeps_what_its_stages_exchange) {
  const network::Network network = residual();
  ASSERT_EQ(network.layers.size(), 4u);
  const board::Board board =
      board_of(engine::plugin::devices("example", {.libraries = {{"example", faulty_.file()}}}));
  plan::Mapping mapping;
  for (const std::size_t processor : {1u, 0u, 1u, 1u}) mapping.processors.emplace_back(processor);
  plan::Plan plan = plan::build(network, board, mapping, {.engine = "example"});
  for (plan::Stage& stage : plan.stages)
    if (!stage.processors[0].cores.empty()) stage.engine = "reference";
  runtime::Session session = runtime::deploy(
      plan, network, {{"example", plugin_.get()}, {"reference", reference_.get()}}, {.pin = false});
  Random random(5);
  constexpr std::size_t frames = 20;
  const std::size_t before = moved();
  for (std::size_t i = 0; i < frames; ++i) {
    const std::vector<Array> inputs = random_inputs(random, network);
    ASSERT_TRUE(session.submit(inputs));
    const auto result = session.next();
    ASSERT_TRUE(result);
    const Array expected = network::evaluate(network, inputs)[0];
    for (std::size_t k = 0; k < expected.values<float>().size(); ++k)
      ASSERT_NEAR(result->outputs[0].values<float>()[k], expected.values<float>()[k], 1e-5);
  }
  // In: the input and what the core made. Out: what the core reads and the output. The first
  // convolution's result goes out once, and is read by the sum where it lies.
  const TensorId first = network.layers[0].outputs[0], rectified = network.layers[1].outputs[0];
  EXPECT_EQ(moved() - before,
            frames * bytes_of(network, {network.inputs[0], first, rectified, network.outputs[0]}));
}

INSTANTIATE_TEST_SUITE_P(Memory, Device, testing::Values("own_memory", "own_memory_copies"));

TEST(TransferTimes, of_a_device_are_measured_in_both_directions) {
  const FaultyEngine faulty("own_memory");
  const auto engine = engine::plugin::make_from(faulty.file(), {});
  const auto times = profile::measure_transfers(*engine, {"npu0", board::ProcessorKind::npu, {}});
  ASSERT_TRUE(times);
  EXPECT_GT(times->read_ns, 0.1);  // it copies byte by byte
  EXPECT_GT(times->write_ns, 0.1);
  EXPECT_FALSE(profile::measure_transfers(*engine::reference::make(),
                                          {"core0", board::ProcessorKind::cpu, {0}}));
}

TEST(TransferTimes, lie_on_a_line) {
  const profile::LineOfTimes line = profile::line_through(10, 120, 110, 320);
  EXPECT_DOUBLE_EQ(line.element, 2);
  EXPECT_DOUBLE_EQ(line.tensor, 100);
}

}  // namespace
}  // namespace millrace::test
