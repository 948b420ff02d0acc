#include "application/image_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include "application/codecs/codecs.h"
#include "application/codecs/jpeg.h"
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
  if (is_damaged_jpeg(bytes))
    throw InputError(path.string(), "is a JPEG file of which a part is missing; copy it again");
  cv::Mat image;
  if (is_pnm(bytes)) {
    image = read_pnm(bytes, grey);
    if (image.empty())
      throw InputError(path.string(), "is a PGM or PPM file that is damaged or of which a part is "
                                      "missing; copy it again");
    return image;
  }
  const int orientation = webp_orientation(bytes);
  const int flags = (grey ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR) |
                    (orientation > 1 ? cv::IMREAD_IGNORE_ORIENTATION : 0);
  const cv::Mat raw(1, static_cast<int>(bytes.size()), CV_8UC1, const_cast<char*>(bytes.data()));
  try {
    if (!bytes.empty()) image = codecs().decode(raw, flags);
  } catch (const cv::Exception&) {
    image.release();
  }
  if (image.empty())
    throw InputError(path.string(),
                     "cannot be decoded as an image; expected PNG, JPEG, BMP, PPM, TIFF or WebP");
  make_upright(image, orientation);
  return image;
}

}  // namespace millrace::application
