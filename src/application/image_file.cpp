#include "application/image_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string>

#include "application/codecs.h"
#include "application/jpeg.h"
#include "base/error.h"
#include "base/file.h"

namespace millrace::application {

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
  const cv::Mat raw(1, static_cast<int>(bytes.size()), CV_8UC1, const_cast<char*>(bytes.data()));
  cv::Mat image;
  try {
    if (!bytes.empty()) image = codecs().decode(raw, grey);
  } catch (const cv::Exception&) {
    image.release();
  }
  if (image.empty())
    throw InputError(path.string(),
                     "cannot be decoded as an image; expected PNG, JPEG, BMP, PPM, TIFF or WebP");
  return image;
}

}  // namespace millrace::application
