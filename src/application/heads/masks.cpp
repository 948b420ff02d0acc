#include "application/heads/masks.h"

#include <vector>

#include "application/heads/sampling.h"

namespace millrace::application {
namespace {

/// The whole pixels of the picture that the box touches.
Mask empty_mask(const Detection& box, const Size& picture) {
  const auto inside = [](double value, std::int64_t size) {
    return static_cast<std::int64_t>(std::clamp(value, 0.0, static_cast<double>(size)));
  };
  Mask mask;
  mask.left = inside(std::floor(box.left), picture.width);
  mask.top = inside(std::floor(box.top), picture.height);
  mask.width = inside(std::ceil(box.left + box.width), picture.width) - mask.left;
  mask.height = inside(std::ceil(box.top + box.height), picture.height) - mask.top;
  mask.inside.resize(static_cast<std::size_t>(mask.width * mask.height));
  return mask;
}

/// The sum of the planes in a part of their grid.
class Sums {
 public:
  Sums(std::span<const float> coefficients, const network::Array& prototypes, const Sample& first,
       const Sample& last)
      : left_(first.x0), top_(first.y0), width_(last.x1 - first.x0 + 1) {
    const std::int64_t rows = prototypes.shape[2], columns = prototypes.shape[3];
    values_.resize(static_cast<std::size_t>(width_ * (last.y1 - top_ + 1)));
    const std::span<const float> planes = prototypes.values<float>();
    for (std::size_t c = 0; c < coefficients.size(); ++c) {
      auto sum = values_.begin();
      const std::int64_t plane = static_cast<std::int64_t>(c) * rows * columns;
      for (std::int64_t y = top_; y <= last.y1; ++y)
        for (std::int64_t x = left_; x <= last.x1; ++x)
          *sum++ += coefficients[c] * planes[static_cast<std::size_t>(plane + y * columns + x)];
    }
  }
  double at(std::int64_t x, std::int64_t y) const {
    return values_[static_cast<std::size_t>((y - top_) * width_ + x - left_)];
  }

 private:
  std::int64_t left_, top_, width_;
  std::vector<float> values_;
};

}  // namespace

Mask mask_of(const Detection& detection, std::span<const float> coefficients,
             const network::Array& prototypes, const View& view) {
  Mask mask = empty_mask(detection, view.picture);
  if (mask.inside.empty()) return mask;
  const Size grid{prototypes.shape[3], prototypes.shape[2]};
  const std::int64_t right = mask.left + mask.width - 1, bottom = mask.top + mask.height - 1;
  const Sums sums(coefficients, prototypes, sample_at(mask.left, mask.top, view, grid),
                  sample_at(right, bottom, view, grid));
  auto pixel = mask.inside.begin();
  for (std::int64_t y = mask.top; y <= bottom; ++y)
    for (std::int64_t x = mask.left; x <= right; ++x) {
      const double sum =
          sample_at(x, y, view, grid).interpolated([&](std::int64_t column, std::int64_t row) {
            return sums.at(column, row);
          });
      *pixel++ = sum > 0 ? 1 : 0;
    }
  return mask;
}

}  // namespace millrace::application
