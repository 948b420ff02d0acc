#pragma once
// Image files into input tensors.
#include <filesystem>

#include "application/frames/frames.h"

namespace millrace::application {

/// Decodes, resizes to the tensor's height and width, converts to its channels (1: grey, 3: RGB
/// unless options.bgr) and scales: value / 255, then (value - mean) / deviation per channel.
/// The tensor is 1xCxHxW float32. InputError if the file cannot be decoded, or has another size and
/// options.resize is off.
network::Array read_image(const std::filesystem::path& path, const network::Tensor& tensor,
                          const FrameOptions& options);

}  // namespace millrace::application
