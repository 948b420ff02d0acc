#pragma once
// Pictures, and what applications find on them.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millrace {
inline namespace v1 {

enum class PixelFormat { rgb, bgr, grey };

/// Pixels of the program, row by row from the top.
struct Pixels {
  int width = 0, height = 0;
  const void* data = nullptr;
  PixelFormat format = PixelFormat::rgb;
  std::int64_t stride = 0;  // bytes from row to row; 0: no gaps
};

/// A picture of one byte for each colour of a pixel. It never changes, and copies share its pixels:
/// any thread may use any copy.
class Image {
 public:
  /// Nothing.
  Image() = default;
  static Image copy_of(const Pixels& pixels);
  /// Shares the program's memory if it is RGB without gaps; else copies it. It must not change
  /// before the picture and all that it was given to are gone; then `owner` is released, on any
  /// thread.
  static Image view_of(const Pixels& pixels, std::shared_ptr<const void> owner);
  /// PNG, JPEG, BMP, PPM, TIFF or WebP. Error names the file.
  static Image from_file(const std::string& path);

  int width() const;
  int height() const;
  /// Red, green and blue, without gaps; null: there is no picture.
  const std::uint8_t* rgb() const;

 private:
  friend struct Access;
  struct Impl;
  explicit Image(std::shared_ptr<const void> impl) : impl_(std::move(impl)) {}
  const Impl* impl() const { return static_cast<const Impl*>(impl_.get()); }

  std::shared_ptr<const void> impl_;  // an Impl
};

/// In pixels of the picture, from its top left corner.
struct Point {
  double x = 0, y = 0;
};

struct Keypoint {
  Point at;
  double probability = 1;  // that it can be seen
};

/// Which pixels belong to an object: a rectangle, row by row, 1 for those that do.
struct Mask {
  std::int64_t left = 0, top = 0, width = 0, height = 0;
  std::vector<std::uint8_t> inside;
};

struct Detection {
  std::int64_t label = 0;
  double probability = 0;
  double left = 0, top = 0, width = 0, height = 0;
  std::vector<Point> corners;  // of a turned box, in order; else empty
  std::vector<Keypoint> keypoints;
  std::optional<Mask> mask;
};

struct Ranked {
  std::int64_t label = 0;
  double value = 0;
};

/// The class of each pixel of the picture, row by row.
struct ClassMap {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> classes;
};

struct ReadText {
  std::string text;
  double probability = 0;
};

/// What the second network of an application with crops finds around a detection. The rectangle is
/// in pixels of the picture.
struct CropFindings {
  std::size_t detection = 0;  // of Findings::detections
  std::int64_t left = 0, top = 0, width = 0, height = 0;
  std::optional<std::vector<Ranked>> classes;  // by falling value
  std::optional<std::vector<float>> embedding;
  std::optional<ReadText> text;
  std::string json;  // of a plug-in: anything else
};

/// What post-processing fills in is there.
struct Findings {
  std::optional<std::vector<Detection>> detections;  // by falling probability
  std::optional<std::vector<Ranked>> classes;        // by falling value
  std::optional<ClassMap> map;
  std::optional<std::vector<float>> embedding;
  std::optional<ReadText> text;
  std::string json;  // of a plug-in: anything else
  std::vector<CropFindings> crops;  // of an application with crops; by falling probability
  std::int64_t not_cropped = 0;     // boxes that were more than the application's `at_most`
  std::int64_t outside = 0;         // boxes without a pixel in the picture
};

/// As `millrace run` writes them, such as {"detections":[...]}. Both lists of names may be empty.
/// Error if a plug-in's own JSON is none.
std::string to_json(const Findings& findings, const std::vector<std::string>& labels,
                    const std::vector<std::string>& labels_of_crops = {});

/// The picture with boxes, corners, masks, key points and names on it; `labels` may be empty.
Image draw(const Image& image, const Findings& findings, const std::vector<std::string>& labels);
/// The same, with the names of what was found in crops.
Image draw(const Image& image, const Findings& findings, const std::vector<std::string>& labels,
           const std::vector<std::string>& labels_of_crops);

}  // namespace v1
}  // namespace millrace
