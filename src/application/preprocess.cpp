#include "application/preprocess.h"

#include <fmt/format.h>

#include <algorithm>
#include <opencv2/imgproc.hpp>
#include <utility>

#include "base/error.h"
#include "network/evaluate/evaluate.h"

namespace millrace::application {
namespace {

constexpr std::size_t channels_of_picture = 3;

/// Each new pixel lies between two old ones.
struct Between {
  std::size_t first = 0, second = 0;
  float share = 0;  // of the second
};

std::vector<Between> darknet_places(int from, std::int64_t to) {
  const float step = to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1) : 0;
  std::vector<Between> result;
  for (std::int64_t i = 0; i < to; ++i) {
    const float place = static_cast<float>(i) * step;
    const auto first =
        std::min(static_cast<std::size_t>(place), static_cast<std::size_t>(from - 1));
    const std::size_t second = std::min(first + 1, static_cast<std::size_t>(from - 1));
    result.push_back({first, second, place - static_cast<float>(first)});
  }
  return result;
}

std::vector<float> darknet_resized(const Image& image, const Size& size) {
  const auto columns = darknet_places(image.width, size.width);
  const auto rows = darknet_places(image.height, size.height);
  const std::size_t row_length = columns.size() * channels_of_picture;
  const std::uint8_t* pixels = image.bytes().data();
  const auto narrowed = [&](std::size_t row, std::vector<float>& out) {
    const std::uint8_t* from =
        pixels + row * static_cast<std::size_t>(image.width) * channels_of_picture;
    float* to = out.data();
    for (const Between& column : columns)
      for (std::size_t c = 0; c < channels_of_picture; ++c)
        *to++ = (1 - column.share) * from[column.first * channels_of_picture + c] +
                column.share * from[column.second * channels_of_picture + c];
  };
  std::vector<float> result(rows.size() * row_length), upper(row_length), lower(row_length);
  std::size_t upper_row = SIZE_MAX, lower_row = SIZE_MAX;
  float* to = result.data();
  for (const Between& row : rows) {
    if (row.first == lower_row) {
      std::swap(upper, lower);
      std::swap(upper_row, lower_row);
    }
    if (row.first != upper_row) narrowed(upper_row = row.first, upper);
    if (row.second != lower_row) narrowed(lower_row = row.second, lower);
    for (std::size_t i = 0; i < row_length; ++i)
      *to++ = (1 - row.share) * upper[i] + row.share * lower[i];
  }
  return result;
}

int flag_of(Interpolation how) {
  return how == Interpolation::area      ? cv::INTER_AREA
         : how == Interpolation::nearest ? cv::INTER_NEAREST
                                         : cv::INTER_LINEAR;
}

Layout layout_of(const network::Shape& shape, const ImageSettings& settings) {
  if (settings.layout) return *settings.layout;
  return shape.size() == 4 && shape[1] > 3 && shape[3] <= 3 ? Layout::nhwc : Layout::nchw;
}

std::int64_t channels_of(const ImageSettings& settings) {
  return settings.colours == Colours::grey ? 1 : 3;
}

/// Everything of a frame that its pixels need, one value of one channel after the other.
class ImageProcessing : public Processing {
 public:
  ImageProcessing(const ImageSettings& settings, const network::Tensor& input, const Size& size)
      : settings_(settings), type_(input.type), shape_(input.shape), size_(size) {
    layout_ = layout_of(shape_, settings);
  }

  std::vector<network::Array> before(const Picture& picture) const override {
    if (picture.image.empty())
      throw InputError(picture.name, "is not a picture, but the pre-processing 'image' needs one");
    const Placement placement =
        place({picture.image.width, picture.image.height}, size_, settings_.fit);
    const std::vector<float> pixels =
        resized(picture.image, placement.size, settings_.interpolation);
    network::Buffer memory(network::size_of(network::DataType::float32) *
                           network::element_count(shape_));
    const std::span<float> out(reinterpret_cast<float*>(memory.data()),
                               static_cast<std::size_t>(network::element_count(shape_)));
    for (std::size_t c = 0; c < channels(); ++c) write(pixels, placement, c, out);
    const auto array = network::make_array(network::DataType::float32, shape_, std::move(memory));
    if (type_ == array.type) return {array};
    return {network::converted(array, type_)};
  }

 private:
  std::size_t channels() const { return static_cast<std::size_t>(channels_of(settings_)); }
  float value_of(float byte, std::size_t channel) const {
    return (byte * static_cast<float>(settings_.scale) -
            static_cast<float>(settings_.mean[channel])) /
           static_cast<float>(settings_.deviation[channel]);
  }
  /// One channel of one pixel, 0 to 255.
  float byte_of(const float* pixel, std::size_t channel) const {
    if (settings_.colours == Colours::grey)
      return 0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2];
    return pixel[settings_.colours == Colours::bgr ? 2 - channel : channel];
  }
  void write(const std::vector<float>& pixels, const Placement& placement, std::size_t channel,
             std::span<float> out) const {
    const auto width = static_cast<std::size_t>(size_.width);
    const auto height = static_cast<std::size_t>(size_.height);
    const bool planes = layout_ == Layout::nchw;
    const std::size_t step = planes ? 1 : channels();
    float* const begin = out.data() + (planes ? channel * width * height : channel);
    const bool has_border = placement.size != size_;
    const float border = value_of(static_cast<float>(settings_.fill * 255), channel);
    for (std::size_t i = 0; has_border && i < width * height; ++i) begin[i * step] = border;
    const float* pixel = pixels.data();
    const auto left = static_cast<std::size_t>(placement.left);
    for (std::int64_t y = 0; y < placement.size.height; ++y) {
      const auto row = static_cast<std::size_t>(placement.top + y);
      float* to = begin + (row * width + left) * step;
      for (std::int64_t x = 0; x < placement.size.width; ++x, pixel += channels_of_picture) {
        *to = value_of(byte_of(pixel, channel), channel);
        to += step;
      }
    }
  }

  ImageSettings settings_;
  network::DataType type_;
  network::Shape shape_;
  Size size_;
  Layout layout_ = Layout::nchw;
};

/// The arrays as they are.
class ArrayProcessing : public Processing {
 public:
  std::vector<network::Array> before(const Picture& picture) const override {
    return picture.arrays;
  }
};

}  // namespace

std::vector<float> resized(const Image& image, const Size& size, Interpolation how) {
  if (how == Interpolation::darknet) return darknet_resized(image, size);
  // OpenCV does not write to it.
  const cv::Mat whole(image.height, image.width, CV_8UC3,
                      const_cast<std::uint8_t*>(image.bytes().data()));
  cv::Mat scaled;
  cv::resize(whole, scaled, cv::Size(static_cast<int>(size.width), static_cast<int>(size.height)),
             0, 0, flag_of(how));
  return {scaled.datastart, scaled.dataend};
}

Size input_size(const network::Network& network, const ImageSettings& settings,
                const std::string& place) {
  const auto fail = [&](const std::string& found,
                        const std::string& remedy = "Give arrays, or a plug-in's pre-processing") {
    throw InputError(
        place,
        fmt::format("the network '{}' {}; pictures need one input, float32 or float16, of 1 x {} x "
                    "rows x columns or 1 x rows x columns x {}. {}",
                    network.name, found, channels_of(settings), channels_of(settings), remedy));
  };
  if (network.inputs.size() != 1) fail(fmt::format("has {} inputs", network.inputs.size()));
  const network::Tensor& input = network[network.inputs.front()];
  const network::Shape& shape = input.shape;
  const bool planes = layout_of(shape, settings) == Layout::nchw;
  const bool is_real =
      input.type == network::DataType::float32 || input.type == network::DataType::float16;
  const bool fits = shape.size() == 4 && shape[0] == 1 && is_real &&
                    shape[planes ? 1 : 3] == channels_of(settings) && shape[2] > 0 &&
                    shape[planes ? 3 : 1] > 0;
  if (!fits) {
    const std::string found =
        fmt::format("takes {} {}", network::to_text(input.type), network::to_text(shape));
    const bool has_one_channel =
        shape.size() == 4 && shape[0] == 1 && is_real && (shape[1] == 1 || shape[3] == 1);
    if (has_one_channel && settings.colours != Colours::grey)
      fail(found, "For its one channel write 'colours: grey' under 'preprocess'");
    fail(found);
  }
  return planes ? Size{shape[3], shape[2]} : Size{shape[2], shape[1]};
}

std::unique_ptr<Processing> make_preprocessing(const Application& application,
                                               const network::Network& network,
                                               const Registry& registry) {
  const Preprocess& wanted = application.preprocess;
  if (wanted.kind != "image")
    return registry.make(wanted.kind, {network, wanted.parameters, application.labels},
                         wanted.place);
  if (application.input.kind == InputKind::arrays) return std::make_unique<ArrayProcessing>();
  const Size size = input_size(network, wanted.image, wanted.place);
  return std::make_unique<ImageProcessing>(wanted.image, network[network.inputs.front()], size);
}

}  // namespace millrace::application
