#include "application/frames/image.h"

#include <fmt/format.h>

#include <limits>
#include <opencv2/imgproc.hpp>

#include "application/image_file.h"
#include "base/error.h"
#include "network/evaluate/evaluate.h"

namespace millrace::application {
namespace {

/// OpenCV's sizes are of type int, and it scales nothing to nothing.
bool is_size(std::int64_t size) { return size > 0 && size <= std::numeric_limits<int>::max(); }

void check_tensor(const network::Tensor& tensor) {
  const network::Shape& shape = tensor.shape;
  const bool fits =
      shape.size() == 4 && shape[0] == 1 && (shape[1] == 1 || shape[1] == 3) &&
      is_size(shape[2]) && is_size(shape[3]) &&
      (tensor.type == network::DataType::float32 || tensor.type == network::DataType::float16);
  if (!fits)
    throw InputError(tensor.name,
                     fmt::format("the input is {} {}; images need float32 1x1xHxW or 1x3xHxW. "
                                 "Give a .npy file instead",
                                 network::to_text(tensor.type), network::to_text(shape)));
}

}  // namespace

network::Array read_image(const std::filesystem::path& path, const network::Tensor& tensor,
                          const FrameOptions& options) {
  check_tensor(tensor);
  const auto channels = static_cast<std::size_t>(tensor.shape[1]);
  cv::Mat image = decode_image(path, channels == 1);
  const cv::Size size(static_cast<int>(tensor.shape[3]), static_cast<int>(tensor.shape[2]));
  if (image.size() != size && !options.resize)
    throw InputError(
        path.string(),
        fmt::format("has {}x{} pixels, expected {}x{} for the input '{}'; add ⟨resize⟩ "
                    "to scale it, as `millrace run` does",
                    image.cols, image.rows, size.width, size.height, tensor.name));
  if (image.size() != size)
    cv::resize(image, image, size, 0, 0,
               image.cols > size.width ? cv::INTER_AREA : cv::INTER_LINEAR);
  network::Buffer memory(size_of(network::DataType::float32) *
                         network::element_count(tensor.shape, tensor.name));
  float* out = reinterpret_cast<float*>(memory.data());
  const float scale = options.raw ? 1.0f : 1.0f / 255.0f;
  for (std::size_t c = 0; c < channels; ++c) {
    const std::size_t source = channels == 3 && !options.bgr ? 2 - c : c;  // OpenCV decodes to BGR
    const auto pixels = static_cast<std::size_t>(image.total());
    for (std::size_t i = 0; i < pixels; ++i) {
      const float value = static_cast<float>(image.data[i * channels + source]) * scale;
      *out++ = (value - options.mean[c]) / options.deviation[c];
    }
  }
  const network::Array array =
      network::make_array(network::DataType::float32, tensor.shape, std::move(memory));
  return network::converted(array, tensor.type);
}

}  // namespace millrace::application
