#include "profile/devices/transfer_times.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "network/tensor.h"

namespace millrace::profile {
namespace {

constexpr std::int64_t small = 1 << 10, large = 1 << 20;  // elements of float32
constexpr std::size_t runs = 15;                          // the median counts
constexpr std::chrono::milliseconds long_enough{300};     // over a slow link there are fewer

network::Network network_of_one_tensor(std::int64_t elements) {
  network::Network network;
  network.name = "transfer";
  network::Tensor tensor;
  tensor.name = "t";
  tensor.type = network::DataType::float32;
  tensor.shape = {elements};
  network.tensors.push_back(std::move(tensor));
  network.inputs = {TensorId(0)};
  return network;
}

struct BothWays {
  double in = 0, out = 0;  // ns
};

double median_ns(engine::Subnet& subnet, const std::byte* from, std::byte* to) {
  std::vector<double> times;
  const auto begin = std::chrono::steady_clock::now();
  while (times.size() < runs + 1) {
    const auto start = std::chrono::steady_clock::now();
    subnet.run({&from, 1}, {&to, 1});
    const auto end = std::chrono::steady_clock::now();
    times.push_back(std::chrono::duration<double, std::nano>(end - start).count());
    if (end - begin > long_enough) break;
  }
  if (times.size() > 1) times.erase(times.begin());  // it warms up
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

BothWays time_of(engine::Engine& engine, const board::Processor& processor,
                 const std::string& space, std::int64_t elements) {
  const network::Network network = network_of_one_tensor(elements);
  const Bytes size = network.tensors.front().size();
  network::Buffer here(size);
  std::fill_n(here.data(), size.count, std::byte{});
  const auto in =
      engine.prepare(engine::transfer_request(network, processor, TensorId(0), {"", space}));
  const auto out =
      engine.prepare(engine::transfer_request(network, processor, TensorId(0), {space, ""}));
  const auto there = in->allocate(in->outputs()[0].layout);
  return {median_ns(*in, here.data(), there.get()), median_ns(*out, there.get(), here.data())};
}

}  // namespace

LineOfTimes line_through(double small_elements, double small_ns, double large_elements,
                         double large_ns) {
  LineOfTimes line;
  line.element = std::max(0.0, (large_ns - small_ns) / (large_elements - small_elements));
  line.tensor = std::max(0.0, small_ns - line.element * small_elements);
  return line;
}

std::optional<TransferTimes> measure_transfers(engine::Engine& engine,
                                               const board::Processor& processor) {
  const std::optional<engine::Traits> traits = engine.traits(processor);
  if (!traits || traits->memory.empty()) return std::nullopt;
  const BothWays few = time_of(engine, processor, traits->memory, small);
  const BothWays many = time_of(engine, processor, traits->memory, large);
  const LineOfTimes in = line_through(small, few.in, large, many.in);
  const LineOfTimes out = line_through(small, few.out, large, many.out);
  return TransferTimes{in.element, out.element, in.tensor, out.tensor};
}

BorderCosts with_transfers(BorderCosts borders, const TransferTimes& times) {
  borders.read_ns = times.read_ns;
  borders.write_ns = times.write_ns;
  borders.border = Time(std::llround((times.in_ns + times.out_ns) / 2));
  borders.of_ends = true;
  return borders;
}

}  // namespace millrace::profile
