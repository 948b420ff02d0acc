#include "cli/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "base/error.h"
#include "base/file.h"
#include "network/evaluate/evaluate.h"

namespace millrace::cli {
namespace {

cv::Mat decode(const std::filesystem::path& path, bool grey) {
  const std::string bytes = read_file(path);
  const cv::Mat raw(1, static_cast<int>(bytes.size()), CV_8UC1, const_cast<char*>(bytes.data()));
  cv::Mat image;
  try {
    if (!bytes.empty()) image = cv::imdecode(raw, grey ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR);
  } catch (const cv::Exception&) {
    image.release();
  }
  if (image.empty())
    throw InputError(path.string(),
                     "cannot be decoded as an image; expected PNG, JPEG, BMP, "
                     "PPM, TIFF or WebP");
  return image;
}

void check_tensor(const network::Tensor& tensor) {
  const network::Shape& shape = tensor.shape;
  const bool fits =
      shape.size() == 4 && shape[0] == 1 && (shape[1] == 1 || shape[1] == 3) &&
      (tensor.type == network::DataType::float32 || tensor.type == network::DataType::float16);
  if (!fits)
    throw InputError(tensor.name,
                     fmt::format("the input is {} {}; images need float32 1x1xHxW or 1x3xHxW. "
                                 "Give a .npy file instead",
                                 network::to_text(tensor.type), network::to_text(shape)));
}

}  // namespace

bool is_image_name(const std::filesystem::path& path) {
  static constexpr std::array<std::string_view, 9> endings{".png", ".jpg", ".jpeg", ".bmp", ".ppm",
                                                           ".pgm", ".tif", ".tiff", ".webp"};
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

network::Array read_image(const std::filesystem::path& path, const network::Tensor& tensor,
                          const FrameOptions& options) {
  check_tensor(tensor);
  const auto channels = static_cast<std::size_t>(tensor.shape[1]);
  cv::Mat image = decode(path, channels == 1);
  const cv::Size size(static_cast<int>(tensor.shape[3]), static_cast<int>(tensor.shape[2]));
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

}  // namespace millrace::cli
