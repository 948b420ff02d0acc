// NonMaxSuppression and RoiAlign.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "network/evaluate/indexed/indices.h"
#include "network/evaluate/indexed/sample_taps.h"
#include "network/evaluate/types.h"

namespace millrace::network::loops {
namespace {

struct Area {
  float top = 0, left = 0, bottom = 0, right = 0;
  float area() const { return (bottom - top) * (right - left); }
};

Area box_at(const NonMaxSuppression& op, const float* b) {
  if (op.centre_and_size)
    return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

float overlap(const Area& a, const Area& b) {
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (!(height > 0) || !(width > 0)) return 0;
  const float both = height * width;
  return both / (a.area() + b.area() - both);
}

/// Candidates of one class, best first; of equal scores the first one.
std::vector<std::int64_t> candidates(const NonMaxSuppression& op, const float* scores,
                                     std::int64_t boxes) {
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < boxes; ++i)
    if (!std::isnan(scores[i]) && (!op.has_score || scores[i] > op.score)) result.push_back(i);
  std::stable_sort(result.begin(), result.end(),
                   [&](std::int64_t a, std::int64_t b) { return scores[a] > scores[b]; });
  return result;
}

std::vector<std::int64_t> kept_boxes(const NonMaxSuppression& op, const float* boxes,
                                     const float* scores, std::int64_t count) {
  std::vector<std::int64_t> kept;
  std::vector<Area> places;
  for (const std::int64_t candidate : candidates(op, scores, count)) {
    if (static_cast<std::int64_t>(kept.size()) >= op.most_per_class) break;
    const Area box = box_at(op, boxes + candidate * 4);
    const bool covered = std::any_of(places.begin(), places.end(), [&](const Area& other) {
      return overlap(box, other) > op.overlap;
    });
    if (covered) continue;
    kept.push_back(candidate);
    places.push_back(box);
  }
  return kept;
}

/// One channel of an image.
template <class T>
struct Plane {
  const T* values;
  std::int64_t height, width;
};

/// The bilinear value at a place, or the largest of its four weighted corners.
template <class T>
double value_at(const Plane<T>& plane, bool maximum, double y, double x) {
  const std::int64_t height = plane.height, width = plane.width;
  if (!(y >= -1) || y > static_cast<double>(height) || !(x >= -1) || x > static_cast<double>(width))
    return 0;
  y = std::clamp(y, 0.0, static_cast<double>(height - 1));
  x = std::clamp(x, 0.0, static_cast<double>(width - 1));
  const auto top = static_cast<std::int64_t>(y), left = static_cast<std::int64_t>(x);
  const std::int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
  const double down = y - static_cast<double>(top), across = x - static_cast<double>(left);
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return static_cast<double>(plane.values[row * width + column]);
  };
  const double a = (1 - down) * (1 - across) * at(top, left);
  const double b = (1 - down) * across * at(top, right);
  const double c = down * (1 - across) * at(bottom, left);
  const double d = down * across * at(bottom, right);
  return maximum ? std::max(std::max(a, b), std::max(c, d)) : a + b + c + d;
}

template <class T>
void roi_align(const RoiAlign& op, Inputs in, const View& out) {
  const std::int64_t channels = out.shape[1], height = out.shape[2], width = out.shape[3];
  Plane<T> plane{nullptr, in[0].shape[2], in[0].shape[3]};
  for (std::int64_t i = 0; i < count(out.shape); ++i) {
    const std::int64_t column = i % width, row = i / width % height;
    const std::int64_t channel = i / (width * height) % channels;
    const std::int64_t region = i / (width * height * channels);
    const T* r = in[1].as<T>() + region * 4;
    const Cells across = cells_of(op, double{r[0]}, double{r[2]}, width);
    const Cells down = cells_of(op, double{r[1]}, double{r[3]}, height);
    plane.values =
        in[0].as<T>() + (index_at(in[2], region) * channels + channel) * plane.height * plane.width;
    double sum = op.maximum ? -std::numeric_limits<double>::infinity() : 0;
    for (std::int64_t s = 0; s < down.samples * across.samples; ++s) {
      const double value = value_at(plane, op.maximum, down.at(row, s / across.samples),
                                    across.at(column, s % across.samples));
      sum = op.maximum ? std::max(sum, value) : sum + value;
    }
    if (!op.maximum) sum /= static_cast<double>(down.samples * across.samples);
    out.as<T>()[i] = static_cast<T>(sum);
  }
}

}  // namespace

void run(const NonMaxSuppression& op, Inputs in, Outputs out) {
  const std::int64_t batches = in[1].shape[0], classes = in[1].shape[1], boxes = in[1].shape[2];
  std::int64_t* row = out[0].as<std::int64_t>();
  std::fill_n(row, count(out[0].shape), -1);
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t c = 0; c < classes; ++c)
      for (const std::int64_t box :
           kept_boxes(op, in[0].as<float>() + b * boxes * 4,
                      in[1].as<float>() + (b * classes + c) * boxes, boxes)) {
        *row++ = b;
        *row++ = c;
        *row++ = box;
      }
}

void run(const RoiAlign& op, Inputs in, Outputs out) {
  visit_float(out[0].type, [&]<class T>(std::type_identity<T>) { roi_align<T>(op, in, out[0]); });
}

}  // namespace millrace::network::loops
