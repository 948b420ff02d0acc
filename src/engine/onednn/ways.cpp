#include "engine/onednn/ways.h"

#include <algorithm>
#include <array>

#include "engine/onednn/lower.h"

namespace millrace::engine::onednn {
namespace {

using board::Precision;
using board::Variant;

/// With instructions of its own; without them oneDNN imitates it with more work than float32.
bool is_native(Precision precision) {
  using enum dnnl::cpu_isa;
  constexpr std::array with_bf16{avx512_core_bf16, avx512_core_amx};
  const auto isa = dnnl::get_effective_cpu_isa();
  if (precision == Precision::f32) return true;
  if (precision == Precision::bf16)
    return std::find(with_bf16.begin(), with_bf16.end(), isa) != with_bf16.end();
  return false;
}

bool is_convolution(const network::Operator& op) {
  return std::holds_alternative<network::Conv>(op) ||
         std::holds_alternative<network::ConvTranspose>(op);
}

bool is_product(const network::Operator& op) {
  return std::holds_alternative<network::Gemm>(op) || std::holds_alternative<network::MatMul>(op);
}

void add_convolutions(const Device& device, SubnetRequest request, LayerId layer,
                      Precision precision, std::vector<Variant>& ways) {
  request.variants.assign(request.network->layers.size(), Variant{precision, {}});
  const auto names = convolution_algorithms(Builder(device, request), layer);
  for (std::size_t i = 0; i < names.size(); ++i)
    ways.push_back({precision, i == 0 ? std::string() : names[i]});
}

}  // namespace

std::vector<Variant> ways_to_run(const Device& device, const network::Network& network,
                                 LayerId layer, const board::Processor& processor) {
  SubnetRequest request;
  request.network = &network;
  request.processor = processor;
  const network::Operator& op = network[layer].op;
  std::vector<Variant> ways;
  for (const Precision precision : {Precision::f32, Precision::bf16}) {
    if (!is_native(precision)) continue;
    if (is_convolution(op)) add_convolutions(device, request, layer, precision, ways);
    if (is_product(op)) ways.push_back({precision, {}});
  }
  if (ways.empty()) ways.push_back({});
  return ways;
}

}  // namespace millrace::engine::onednn
