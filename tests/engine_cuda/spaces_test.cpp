// Tensors that stay on the GPU between its subnets. The driver is emulated, and counts what crosses
// between its memory and the host's.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "emulated_gpu.h"
#include "engine/cuda/cuda.h"
#include "prepared.h"

namespace millrace::engine::cuda {
namespace {

using network::Network;

/// Bytes that crossed so far, as the emulated driver counts them.
std::size_t crossed() {
  void* const library = ::dlopen(MILLRACE_EMULATED_CUDA "/libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto count =
      reinterpret_cast<std::size_t (*)()>(::dlsym(library, "millrace_crossed_bytes"));
  const std::size_t result = count();
  ::dlclose(library);
  return result;
}

std::size_t bytes_of(const Port& port) { return static_cast<std::size_t>(port.layout.size.count); }

/// A network in two subnets of a GPU, whose tensors between lie in its memory.
struct Halves {
  explicit Halves(Engine& engine, const Network& of, std::size_t cut)
      : network(of), first(whole_network(of, gpu0)), second(first) {
    first.layers.resize(cut);
    second.layers.erase(second.layers.begin(),
                        second.layers.begin() + static_cast<std::ptrdiff_t>(cut));
    first.outputs = border_of(network, first.layers).outputs;
    first.plain.assign(first.outputs.size(), true);
    first.spaces.assign(first.outputs.size(), "gpu0");
    second.inputs.clear();
    for (const TensorId tensor : border_of(network, second.layers).inputs)
      second.inputs.push_back({tensor, plain_layout(network[tensor])});
    for (Port& port : second.inputs) port.layout.space = "gpu0";
    for (const SubnetRequest& half : {first, second}) subnets.push_back(engine.prepare(half));
    for (const Port& port : subnets[0]->outputs())
      between.push_back(subnets[0]->allocate(port.layout));
  }

  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) {
    std::vector<std::byte*> made;
    for (const auto& each : between) made.push_back(each.get());
    subnets[0]->run(in, made);
    std::vector<const std::byte*> read;
    for (const Port& port : second.inputs)
      read.push_back(made[static_cast<std::size_t>(std::ranges::find(first.outputs, port.tensor) -
                                                   first.outputs.begin())]);
    subnets[1]->run(read, out);
  }

  const Network& network;
  SubnetRequest first, second;
  std::vector<std::unique_ptr<Subnet>> subnets;
  std::vector<std::shared_ptr<std::byte>> between;
};

TEST(CudaSpaces, keep_what_two_subnets_exchange) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  EXPECT_EQ(engine->traits(gpu0)->memory, "gpu0");
  const Network network = branches();
  Prepared whole(*engine, network);
  const std::size_t ends =
      bytes_of(whole.subnet->inputs()[0]) + bytes_of(whole.subnet->outputs()[0]);
  const std::size_t layers = whole_network(network, gpu0).layers.size();
  for (std::size_t cut = 4; cut < layers; ++cut) {  // before, the second half reads the input too
    SCOPED_TRACE(cut);
    Halves halves(*engine, network, cut);
    const std::size_t before = crossed();
    halves.run(whole.in, whole.out);
    EXPECT_EQ(crossed() - before, ends);
    EXPECT_LE(largest_error(whole, network), 1e-5);
  }
}

TEST(CudaSpaces, are_reached_by_transfers_of_any_size) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  for (const std::int64_t count : {1, 65536, 65537, 200003}) {
    const Network network = one_relu(count);
    const TensorId tensor = whole_network(network, gpu0).inputs[0].tensor;
    const auto there = engine->prepare(transfer_request(network, gpu0, tensor, {"", "gpu0"}));
    const auto back = engine->prepare(transfer_request(network, gpu0, tensor, {"gpu0", ""}));
    const std::shared_ptr<std::byte> memory = there->allocate(there->outputs()[0].layout);
    const network::Array sent = network::random_inputs(network, 7)[0];
    network::Buffer received{network[tensor].size()};
    const std::vector<const std::byte*> in{sent.memory->data()}, on_gpu{memory.get()};
    const std::vector<std::byte*> to_gpu{memory.get()}, out{received.data()};
    EXPECT_EQ(there->run_timed(in, to_gpu).front().kernel, "copy");
    back->run(on_gpu, out);
    EXPECT_EQ(largest_error(received, sent), 0) << count;
  }
}

TEST(CudaSpaces, of_other_names_are_not_known) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  const Network network = one_relu(4);
  SubnetRequest request = whole_network(network, gpu0);
  request.spaces = {"gpu1"};
  EXPECT_THROW(engine->prepare(request), NoSuchSpace);
  const TensorId tensor = request.inputs[0].tensor;
  EXPECT_THROW(engine->prepare(transfer_request(network, gpu0, tensor, {"", "npu"})), NoSuchSpace);
  Layout layout = plain_layout(network[tensor]);
  layout.space = "npu";
  EXPECT_THROW(engine->prepare(whole_network(network, gpu0))->allocate(layout), NoSuchSpace);
}

TEST(CudaSpaces, that_are_full_say_so_and_are_given_back) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  const Network network = one_relu(1 << 16);  // 256 KiB
  const auto subnet = engine->prepare(
      transfer_request(network, gpu0, whole_network(network, gpu0).inputs[0].tensor, {"", "gpu0"}));
  const Layout layout = subnet->outputs()[0].layout;
  const DriverVariable memory("MILLRACE_TEST_CUDA_MEMORY", std::to_string(600 << 10));
  for (int i = 0; i < 3; ++i) {
    const auto first = subnet->allocate(layout), second = subnet->allocate(layout);
    EXPECT_NE(error_of([&] { subnet->allocate(layout); }).find("256 KiB of memory are needed"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace millrace::engine::cuda
