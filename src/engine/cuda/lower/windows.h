#pragma once
// Windows over three spatial dimensions, as kernels number them: frame, channel, three dimensions.
#include "engine/cuda/lower/places.h"
#include "network/evaluate/sliding.h"

namespace millrace::engine::cuda {

/// For each of the kernel's five dimensions one of the tensor's, or -1.
std::vector<int> five_dimensions(const network::Shape& shape);

/// Along the five.
Place place_of(const network::Tensor& tensor, Form form);

/// The geometry of a window, into a kernel's parameters.
template <class Work>
void set_window(Work& work, const network::loops::Sliding& sliding) {
  for (std::size_t d = 0; d < 3; ++d) {
    work.in[d] = static_cast<int>(sliding.in[d]);
    work.out[d] = static_cast<int>(sliding.out[d]);
    work.kernel[d] = static_cast<int>(sliding.kernel[d]);
    work.strides[d] = static_cast<int>(sliding.strides[d]);
    work.dilations[d] = static_cast<int>(sliding.dilations[d]);
    work.pads[d] = static_cast<int>(sliding.begin[d]);
  }
}

}  // namespace millrace::engine::cuda
