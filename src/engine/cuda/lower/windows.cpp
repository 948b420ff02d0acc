#include "engine/cuda/lower/windows.h"

namespace millrace::engine::cuda {

std::vector<int> five_dimensions(const network::Shape& shape) {
  std::vector<int> dimensions{0, 1, -1, -1, -1};
  const std::size_t spatial = shape.size() - 2;
  for (std::size_t d = 0; d < spatial; ++d) dimensions[5 - spatial + d] = static_cast<int>(2 + d);
  return dimensions;
}

Place place_of(const network::Tensor& tensor, Form form) {
  const network::Shape own = strides_of(form, tensor.shape);
  network::Shape along;
  for (const int d : five_dimensions(tensor.shape))
    along.push_back(d < 0 ? 0 : own[static_cast<std::size_t>(d)]);
  return place_with(element_of(tensor, form), along);
}

}  // namespace millrace::engine::cuda
