#include "engine/onednn/eight_bits.h"

#include <algorithm>

#include "base/error.h"
#include "engine/onednn/ways.h"
#include "network/operator_kinds.h"

namespace millrace::engine::onednn {
namespace {

/// The same numbers by bytes with a sign, where our own kernels multiply such.
Quantization as_units_count(Quantization given) {
  const auto unit = byte_unit();
  if (has_exact_bytes() || !unit || !kernels::shape_of(*unit).is_signed || given.type == Type::s8)
    return given;
  return {Type::s8, {given.encoding.scale, given.encoding.zero - 128}};
}

bool adds(const network::Operator& op) {
  const auto* binary = std::get_if<network::Binary>(&op);
  return binary != nullptr && binary->kind == network::BinaryKind::add;
}

}  // namespace

EightBits::EightBits(const SubnetRequest& request, const network::Topology& topology)
    : request_(request), network_(*request.network), topology_(topology) {
  const auto int8 = [](const board::Variant& v) { return v.precision == board::Precision::int8; };
  if (std::ranges::none_of(request.variants, int8) || request.layers.empty()) return;
  // From the last layer to the first, so that a tensor's readers come before it.
  read_in_8_bits_.assign(network_.tensors.size(), false);
  const auto reads = [&](LayerId reader) {
    const network::Layer& its = network_[reader];
    if (is_int8(reader) || adds(its.op)) return true;
    return passes_8_bits_on(its.op) &&
           std::all_of(its.outputs.begin(), its.outputs.end(), [&](TensorId output) {
             return !output.valid() || read_in_8_bits_[output.index];
           });
  };
  for (std::size_t i = network_.layers.size(); i-- > 0;)
    for (const TensorId output : network_.layers[i].outputs) {
      if (!output.valid() || topology_.is_output[output.index]) continue;
      const auto& readers = topology_.consumers[output.index];
      read_in_8_bits_[output.index] =
          !readers.empty() && std::all_of(readers.begin(), readers.end(), reads);
    }
}

bool EightBits::is_int8(LayerId id) const {
  return !request_.variants.empty() &&
         request_.variants[id.index].precision == board::Precision::int8;
}

bool EightBits::takes_zero(LayerId id) const {
  if (!is_int8(id)) return false;
  if (!has_exact_bytes()) return true;  // ours
  const std::string& algorithm = request_.variants[id.index].algorithm;
  return std::holds_alternative<network::Conv>(network_[id].op) && algorithm != on_tiles &&
         algorithm != winograd_2x2 && algorithm != winograd_4x4;
}

Quantization EightBits::quantization(TensorId id) const {
  bool takes_zeros = true;
  for (const LayerId reader : topology_.consumers[id.index]) {
    const bool concatenates = std::holds_alternative<network::Concat>(network_[reader].op);
    if (concatenates && is_read_in_8_bits(network_[reader].outputs[0]))
      return quantization(network_[reader].outputs[0]);
    takes_zeros = takes_zeros && (!is_int8(reader) || takes_zero(reader));
  }
  return as_units_count(takes_zeros ? whole_quantization(range(id))
                                    : symmetric_quantization(range(id)));
}

Quantization EightBits::quantization(TensorId id, LayerId reader) const {
  const Quantization stored = quantization(id);
  if (stored.encoding.zero == 0 || takes_zero(reader)) return stored;
  return as_units_count(symmetric_quantization(range(id)));
}

std::span<const float> EightBits::means(TensorId id) const {
  if (request_.calibration == nullptr) return {};
  const auto found = request_.calibration->means.find(network_[id].name);
  return found == request_.calibration->means.end() ? std::span<const float>() : found->second;
}

const network::Range& EightBits::range(TensorId id) const {
  const std::string& name = network_[id].name;
  if (request_.calibration != nullptr)
    if (const auto found = request_.calibration->ranges.find(name);
        found != request_.calibration->ranges.end())
      return found->second;
  throw InputError(name,
                   "a layer that reads or makes it is to run in int8, but the calibration has "
                   "no range for it; calibrate this network with 'millrace calibrate'");
}

}  // namespace millrace::engine::onednn
