#include "application/image_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <limits>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <string_view>

#include "application/codecs/codecs.h"
#include "application/codecs/exif.h"
#include "application/codecs/picture_size.h"
#include "application/codecs/pnm.h"
#include "application/codecs/webp.h"
#include "base/error.h"
#include "base/file.h"

namespace millrace::application {
namespace {

/// `orientation`: as EXIF numbers them.
void make_upright(cv::Mat& image, int orientation) {
  constexpr int vertically = 0, horizontally = 1, both = -1;
  if (orientation > 4) cv::transpose(image, image);
  if (orientation % 4 != 1)
    cv::flip(image, image,
             orientation % 4 == 2   ? horizontally
             : orientation % 4 == 3 ? both
                                    : vertically);
}

[[noreturn]] void fail_as_damaged(const std::filesystem::path& path, std::string_view kind) {
  throw InputError(path.string(), fmt::format("is a {} file that is damaged or of which a part is "
                                              "missing; copy it again",
                                              kind));
}

void check_pixels(std::uint64_t pixels, const std::filesystem::path& path) {
  constexpr std::uint64_t million = 1'000'000;
  if (pixels > most_pixels)
    throw InputError(path.string(),
                     fmt::format("has {} million pixels, of which a picture may have {} million; "
                                 "make it smaller",
                                 pixels / million, most_pixels / million));
}

/// Whether OpenCV takes the bytes for one of the formats that are offered here. It knows more, such
/// as DICOM and what GDAL reads, whose readers abort or write files of their own.
bool is_offered(std::string_view bytes) {
  using namespace std::string_view_literals;
  constexpr std::array<std::string_view, 6> beginnings{
      "\x89PNG\r\n\x1a\n"sv, "BM"sv, "II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv};
  constexpr std::size_t place_of_dicom = 128;
  const auto begins = [&](std::string_view beginning) { return bytes.starts_with(beginning); };
  if (std::any_of(beginnings.begin(), beginnings.end(), begins)) return true;
  const bool is_webp = bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP");
  return is_webp &&
         (bytes.size() < place_of_dicom || !bytes.substr(place_of_dicom).starts_with("DICM"));
}

/// Empty if it is not known what this is. May throw cv::Exception.
cv::Mat decode_bytes(const std::string& bytes, bool grey, const std::filesystem::path& path) {
  if (bytes.empty()) return {};
  if (is_pnm(bytes)) {
    const cv::Mat image = read_pnm(bytes, grey);
    if (image.empty()) fail_as_damaged(path, "PGM or PPM");
    return image;
  }
  if (bytes.starts_with("\xff\xd8")) {
    DecodedJpeg decoded = codecs().decode_jpeg(bytes, grey);
    if (decoded.is_damaged) fail_as_damaged(path, "JPEG");
    check_pixels(decoded.pixels, path);
    if (!decoded.image.empty()) make_upright(decoded.image, exif_orientation(decoded.exif));
    return decoded.image;
  }
  if (!is_offered(bytes)) return {};
  check_pixels(pixels_announced(bytes), path);
  const int orientation = webp_orientation(bytes);
  const int flags = (grey ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR) |
                    (orientation > 1 ? cv::IMREAD_IGNORE_ORIENTATION : 0);
  const cv::Mat raw(1, static_cast<int>(bytes.size()), CV_8UC1, const_cast<char*>(bytes.data()));
  cv::Mat image = codecs().decode(raw, flags);
  if (!image.empty()) make_upright(image, orientation);
  return image;
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

cv::Mat decode_image(const std::filesystem::path& path, bool grey) {
  const std::string bytes = read_file(path);
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw InputError(path.string(), "is larger than 2 GiB, which no image here may be");
  if (is_animated_webp(bytes))
    throw InputError(path.string(),
                     "is an animated WebP file, which is not supported; save one of "
                     "its pictures as PNG");
  cv::Mat image;
  try {
    image = decode_bytes(bytes, grey, path);
  } catch (const cv::Exception&) {
    image.release();
  }
  if (image.empty())
    throw InputError(path.string(),
                     "cannot be decoded as an image; expected PNG, JPEG, BMP, PPM, TIFF or WebP");
  return image;
}

}  // namespace millrace::application
