// What the engine costs on top of oneDNN: the same kernels through a prepared subnet and called
// directly, on one core. The time of one layer is the time divided by `layers`.
#include <benchmark/benchmark.h>

#include <array>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "board/board.h"
#include "engine/onednn/onednn.h"
#include "engine/onednn/primitives/layout.h"
#include "engine/onednn/primitives/primitives.h"
#include "engine/onednn/threads/threads.h"

namespace {

using namespace millrace;  // NOLINT: a program of its own
namespace dnn = millrace::engine::onednn;

board::Processor first_core() {
  return {"core0", board::ProcessorKind::cpu, {board::this_machine().processors[0].cores[0]}};
}

network::Array filled(const network::Shape& shape) {
  const std::vector<float> values(static_cast<std::size_t>(network::element_count(shape)), 0.01f);
  return network::make_array<float>(network::DataType::float32, shape, values);
}

struct Chain {
  network::Network network;

  explicit Chain(const network::Shape& shape) {
    network.name = "chain";
    network.inputs = {tensor(shape)};
  }
  TensorId tensor(const network::Shape& shape) {
    const TensorId id(network.tensors.size());
    network.tensors.push_back({std::to_string(id.index), {}, shape, {}});
    return id;
  }
  TensorId constant(const network::Shape& shape) {
    const TensorId id = tensor(shape);
    network.tensors[id.index].constant = filled(shape);
    return id;
  }
  TensorId add(network::Operator op, std::vector<TensorId> inputs) {
    const TensorId id = tensor(network[inputs[0]].shape);
    network.layers.push_back({std::to_string(id.index), std::move(op), inputs, {id}});
    return id;
  }
};

Chain tanh_chain(int length) {
  Chain chain({1, 16});
  TensorId x = chain.network.inputs[0];
  for (int i = 0; i < length; ++i)
    x = chain.add(network::Unary{network::UnaryKind::tanh, 0, 0}, {x});
  chain.network.outputs = {x};
  return chain;
}

const network::Shape image{1, 64, 56, 56};

Chain convolution_chain(int length) {
  Chain chain(image);
  TensorId x = chain.network.inputs[0];
  for (int i = 0; i < length; ++i) {
    const network::Window window{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
    x = chain.add(network::Conv{window, 1},
                  {x, chain.constant({64, 64, 3, 3}), chain.constant({64})});
    x = chain.add(network::Unary{network::UnaryKind::relu, 0, 0}, {x});
  }
  chain.network.outputs = {x};
  return chain;
}

void run_subnet(benchmark::State& state, const Chain& chain) {
  const board::PinGuard pinned(first_core());
  const auto engine = dnn::make();
  const auto subnet = engine->prepare(engine::whole_network(chain.network, first_core()));
  network::Buffer in(subnet->inputs()[0].layout.size), out(subnet->outputs()[0].layout.size);
  const std::array<const std::byte*, 1> from{in.data()};
  const std::array<std::byte*, 1> to{out.data()};
  for (auto _ : state) subnet->run(from, to);
  state.counters["layers"] = static_cast<double>(state.range(0));
}

/// The same primitive so many times, from one buffer to another and back.
void run_kernel(benchmark::State& state, const dnnl::engine& engine, const dnn::Kernel& kernel) {
  const board::PinGuard pinned(first_core());
  const dnn::ThreadScope threads(first_core().cores);
  dnnl::stream stream(engine);
  const dnnl::primitive primitive(kernel.choice.get());
  std::unordered_map<int, dnnl::memory> arguments;
  for (const int argument : {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST})
    if (const auto desc = kernel.operand(argument); desc.get_size() > 0)
      arguments[argument] = dnnl::memory(desc, engine);
  arguments[DNNL_ARG_SCRATCHPAD] = dnnl::memory(kernel.scratchpad(), engine);
  for (auto _ : state)
    for (int i = 0; i < state.range(0); ++i) {
      primitive.execute(stream, arguments);
      std::swap(arguments[DNNL_ARG_SRC], arguments[DNNL_ARG_DST]);
    }
  state.counters["layers"] = static_cast<double>(state.range(0));
}

void tiny_layers_in_a_subnet(benchmark::State& state) {
  run_subnet(state, tanh_chain(static_cast<int>(state.range(0))));
}

void tiny_layers_alone(benchmark::State& state) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const dnn::ThreadScope threads(first_core().cores);
  dnn::PostOp tanh;
  tanh.algorithm = dnnl::algorithm::eltwise_tanh;
  run_kernel(state, engine, dnn::eltwise(engine, dnn::plain_desc({1, 16}), tanh));
}

void convolutions_in_a_subnet(benchmark::State& state) {
  run_subnet(state, convolution_chain(static_cast<int>(state.range(0))));
}

void convolutions_alone(benchmark::State& state) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const dnn::ThreadScope threads(first_core().cores);
  dnn::ConvolutionSpec spec;
  spec.source = spec.destination = dnn::any_desc(image);
  spec.weights = dnn::any_desc({64, 64, 3, 3});
  spec.bias = dnn::plain_desc({64});
  spec.strides = spec.pads_begin = spec.pads_end = {1, 1};
  spec.dilations = {0, 0};
  run_kernel(state, engine, dnn::convolution(engine, spec, {dnn::PostOp{}}));
}

BENCHMARK(tiny_layers_in_a_subnet)->Arg(100)->Unit(benchmark::kMicrosecond);
BENCHMARK(tiny_layers_alone)->Arg(100)->Unit(benchmark::kMicrosecond);
BENCHMARK(convolutions_in_a_subnet)->Arg(8)->Unit(benchmark::kMicrosecond);
BENCHMARK(convolutions_alone)->Arg(8)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
