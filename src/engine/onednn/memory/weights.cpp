#include "engine/onednn/memory/weights.h"

#include <fmt/format.h>
#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/hash.h"
#include "engine/onednn/memory/turning.h"
#include "engine/onednn/primitives/primitives.h"
#include "engine/onednn/ways.h"
#include "kernels/half/half_elements.h"

namespace millrace::engine::onednn {
namespace {

/// Text for convolutions of ours, nothing for oneDNN's layouts.
struct FormOfOwn {
  std::string operator()(std::monostate) const { return {}; }
  template <class Convolution>
  std::string operator()(const Convolution& convolution) const {
    return form_of_weights(convolution);
  }
};
std::string form_of(const Packing& packing) { return std::visit(FormOfOwn(), packing.own); }
bool is_own(const Packing& packing) { return !std::holds_alternative<std::monostate>(packing.own); }

std::string key(const network::Array& constant, const Packing& packing) {
  const std::vector<float>& factors = packing.scales.factors;
  return fmt::format("{} {} {} ", static_cast<const void*>(constant.memory->data()),
                     packing.scales.leading, form_of(packing)) +
         key_of(packing.from) + key_of(packing.to) +
         std::string(reinterpret_cast<const char*>(factors.data()), factors.size() * sizeof(float));
}

/// A matrix that lies column by column, row by row.
std::vector<float> turned(std::span<const float> columns, const Dims& dims) {
  const auto rows = static_cast<std::size_t>(dims[0]), width = static_cast<std::size_t>(dims[1]);
  std::vector<float> result(columns.size());
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < width; ++i) result[row * width + i] = columns[i * rows + row];
  return result;
}

network::Buffer pack_for_own(const network::Array& constant, const Packing& packing) {
  network::Buffer result = network::Buffer::uninitialized(size_of(packing.to));
  const auto count = static_cast<std::size_t>(size_of(packing.from).count) / sizeof(float);
  std::span weights(reinterpret_cast<const float*>(constant.memory->data()), count);
  const Dims dims = dims_of(packing.from);
  std::vector<float> by_row;
  if (!same_memory(packing.from, plain_desc(dims))) weights = by_row = turned(weights, dims);
  const bool scaled = !packing.scales.change_nothing();
  const auto factors = scaled ? std::span(packing.scales.factors) : std::span<const float>();
  if (const auto* amx = std::get_if<kernels::AmxConvolution>(&packing.own))
    pack_weights(*amx, weights, factors, result.bytes().first(packed_size(*amx)));
  else if (const auto* integers = std::get_if<kernels::IntegerConvolution>(&packing.own))
    pack_weights(*integers, weights, factors, result.bytes());
  else if (const auto* quads = std::get_if<kernels::QuadConvolution>(&packing.own))
    pack_weights(*quads, weights, factors, result.bytes());
  else if (const auto* direct = std::get_if<kernels::DirectConvolution>(&packing.own))
    pack_weights(*direct, weights, result.bytes());
  else if (const auto* halves = std::get_if<kernels::HalfConvolution>(&packing.own))
    pack_weights(*halves, weights, result.bytes());
  else if (const auto* tiles_of_halves = std::get_if<kernels::HalfWinograd>(&packing.own))
    pack_weights(*tiles_of_halves, weights, result.bytes());
  else if (const auto* transposed = std::get_if<kernels::TransposedConvolution>(&packing.own))
    pack_weights(*transposed, weights, result.bytes());
  else
    pack_weights(std::get<kernels::WinogradConvolution>(packing.own), weights, result.bytes());
  return result;
}

}  // namespace

/// A key of the content, not the place: equal weights of another network or process are the same.
std::string WeightCache::stored_key(const network::Array& constant, const Packing& packing) const {
  constexpr std::string_view form = "packed weights, 1";
  Hasher hasher;
  hasher.add(form).add(kept_.packer).add(constant.digest());
  hasher.add(std::int64_t{packing.scales.leading}).add(form_of(packing));
  hasher.add(key_of(packing.from)).add(key_of(packing.to));
  hasher.add(static_cast<std::int64_t>(packing.scales.factors.size()));
  hasher.add(std::as_bytes(std::span(packing.scales.factors)));
  return hasher.digits();
}

std::shared_ptr<const Packed> WeightCache::get(const network::Array& constant,
                                               const Packing& packing) {
  const std::string id = key(constant, packing);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = packed_.find(id); found != packed_.end())
      if (auto alive = found->second.lock(); alive && alive->layout == packing.to) return alive;
  }
  // Packing takes long and runs oneDNN's code: not under the lock. When two threads pack the same
  // constant at once, the first to finish wins.
  auto fresh = find_or_pack(constant, packing);
  const std::lock_guard lock(mutex_);
  auto& slot = packed_[id];
  if (auto alive = slot.lock(); alive && alive->layout == packing.to) return alive;
  slot = fresh;
  std::erase_if(packed_, [](const auto& entry) { return entry.second.expired(); });
  return fresh;
}

std::size_t WeightCache::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(
      packed_.begin(), packed_.end(), [](const auto& entry) { return !entry.second.expired(); }));
}

std::shared_ptr<const Packed> WeightCache::find_or_pack(const network::Array& constant,
                                                        const Packing& packing) const {
  auto result = std::make_shared<Packed>();
  result->origin = constant.memory;
  result->layout = packing.to;
  const bool as_is = packing.scales.change_nothing() && !is_own(packing);
  if (as_is && same_memory(packing.from, packing.to)) return result;
  if (!kept_.store) {
    result->memory = pack(constant, packing);
    return result;
  }
  const std::string id = stored_key(constant, packing);
  const Bytes size = size_of(packing.to);
  const auto stored = kept_.store->find(id);
  if (stored && stored->bytes.size() == static_cast<std::size_t>(size.count)) {
    // Not used where it lies: a file has small pages, and weights stream faster from large ones.
    result->memory = network::Buffer::uninitialized(size);
    std::copy(stored->bytes.begin(), stored->bytes.end(), result->memory.data());
    result->was_stored = true;
    return result;
  }
  result->memory = pack(constant, packing);
  kept_.store->keep(id, result->memory.bytes());
  return result;
}

network::Buffer WeightCache::pack(const network::Array& constant, const Packing& packing) const {
  if (is_own(packing)) return pack_for_own(constant, packing);
  if (!has_own_half(type_of(packing.to))) return pack_by_kernel(constant, packing);
  Packing wide = packing;
  wide.to = retyped(packing.to, Type::f32);
  const network::Buffer numbers = pack_by_kernel(constant, wide);
  network::Buffer result(size_of(packing.to));
  kernels::write_halves_of({reinterpret_cast<const float*>(numbers.data()),
                            static_cast<std::size_t>(size_of(wide.to).count) / sizeof(float)},
                           reinterpret_cast<kernels::Half*>(result.data()),
                           stored_number_of(type_of(packing.to)));
  return result;
}

network::Buffer WeightCache::pack_by_kernel(const network::Array& constant,
                                            const Packing& packing) const {
  const Kernel kernel = reorder(engine_, packing.from, packing.to, {packing.scales});
  if (!kernel) throw EngineError("oneDNN cannot convert weights to " + format_of({packing.to}));
  network::Buffer result(size_of(packing.to));
  network::Buffer scratchpad(size_of(kernel.scratchpad()));
  // oneDNN takes non-const pointers for its inputs and does not write to them.
  void* const source = const_cast<std::byte*>(constant.memory->data());
  std::unordered_map<int, dnnl::memory> operands{
      {DNNL_ARG_FROM, {packing.from, engine_, source}},
      {DNNL_ARG_TO, {packing.to, engine_, result.data()}},
      {DNNL_ARG_SCRATCHPAD, {kernel.scratchpad(), engine_, scratchpad.data()}}};
  GivenScales given = kernel.given_scales.value_or(GivenScales{});
  if (kernel.given_scales)
    operands.emplace(given.argument,
                     dnnl::memory(plain_desc({static_cast<std::int64_t>(given.factors.size())}),
                                  engine_, given.factors.data()));
  dnnl::stream stream(engine_);
  generate(kernel).execute(stream, operands);
  stream.wait();
  return result;
}

}  // namespace millrace::engine::onednn
