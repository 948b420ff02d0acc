#include "engine/cuda/lower/places.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace millrace::engine::cuda {
namespace {

/// Whether elements of dimension d follow those of the next one in every place.
bool follow(const JointShape& all, std::size_t d) {
  return std::ranges::all_of(all.strides, [&](const network::Shape& strides) {
    return strides[d] == strides[d + 1] * all.shape[d + 1];
  });
}

void erase_dimension(JointShape& all, std::size_t d) {
  const auto at = static_cast<std::ptrdiff_t>(d);
  all.shape.erase(all.shape.begin() + at);
  for (network::Shape& strides : all.strides) strides.erase(strides.begin() + at);
}

}  // namespace

Element element_of(network::DataType type) {
  switch (type) {
    case network::DataType::float32:
      return element_float32;
    case network::DataType::float16:
      return element_float16;
    case network::DataType::float64:
      return element_float64;
    case network::DataType::int8:
      return element_int8;
    case network::DataType::uint8:
      return element_uint8;
    case network::DataType::int16:
      return element_int16;
    case network::DataType::uint16:
      return element_uint16;
    case network::DataType::int32:
      return element_int32;
    case network::DataType::uint32:
      return element_uint32;
    case network::DataType::int64:
      return element_int64;
    case network::DataType::uint64:
      return element_uint64;
    default:
      return element_boolean;
  }
}

Element element_of(const network::Tensor& tensor, Form form) {
  return is_half(form) ? element_float16 : element_of(tensor.type);
}

network::Shape spread_strides(const network::Tensor& tensor, Form form,
                              const network::Shape& result) {
  const network::Shape own = strides_of(form, tensor.shape);
  network::Shape strides(result.size());
  const std::size_t missing = result.size() - own.size();
  for (std::size_t d = 0; d < own.size(); ++d)
    if (tensor.shape[d] != 1) strides[d + missing] = own[d];
  return strides;
}

Place place_with(Element element, const network::Shape& strides) {
  Place place{};
  place.element = element;
  set(place.strides, strides);
  return place;
}

JointShape joined(const JointShape& all) {
  JointShape result = all;
  for (std::size_t d = result.shape.size(); d-- > 0;)
    if (result.shape[d] == 1) erase_dimension(result, d);
  for (std::size_t d = result.shape.size(); d-- > 1;) {
    if (!follow(result, d - 1)) continue;
    for (network::Shape& strides : result.strides) strides[d - 1] = strides[d];
    result.shape[d - 1] *= result.shape[d];
    erase_dimension(result, d);
  }
  if (!result.shape.empty()) return result;
  result.shape = {1};
  for (network::Shape& strides : result.strides) strides = {0};
  return result;
}

void set(int (&numbers)[max_dimensions], const network::Shape& shape) {
  if (shape.size() > max_dimensions)
    throw EngineError(fmt::format("a kernel of the engine cuda takes {} dimensions, not {}",
                                  max_dimensions, shape.size()));
  std::fill(std::begin(numbers), std::end(numbers), 0);
  std::ranges::transform(shape, numbers, [](std::int64_t n) { return static_cast<int>(n); });
}

ElementWork copying_work(const network::Shape& shape, Form from, Form to) {
  const JointShape all = joined({shape, {strides_of(from, shape), strides_of(to, shape)}});
  const auto element = [](Form form) { return is_half(form) ? element_float16 : element_float32; };
  ElementWork work{};
  work.dimensions = static_cast<int>(all.shape.size());
  set(work.shape, all.shape);
  work.count = static_cast<unsigned>(network::element_count(shape));
  work.in = place_with(element(from), all.strides[0]);
  work.out = place_with(element(to), all.strides[1]);
  return work;
}

}  // namespace millrace::engine::cuda
