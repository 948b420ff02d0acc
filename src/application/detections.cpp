#include "application/detections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "application/heads/overlap.h"
#include "application/heads/view.h"
#include "base/error.h"

namespace millrace::application {
namespace {

using Kind = formats::darknet::Head::Kind;

constexpr std::size_t box_values = 5;  // x, y, width, height, objectness

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// One head's numbers: planes of rows x columns, one for each value of each anchor.
class Reader {
 public:
  Reader(const HeadSettings& head, const network::Array& output, const Size& input)
      : head_(head),
        values_(output.values<float>()),
        rows_(static_cast<std::size_t>(output.shape[2])),
        columns_(static_cast<std::size_t>(output.shape[3])),
        plane_(rows_ * columns_),
        input_(input) {
    const std::size_t each = static_cast<std::size_t>(output.shape[1]) / head.anchors.size();
    each_ = each;
    classes_ = each - box_values;
  }

  /// Plane by plane, as they lie in memory.
  void read(MostProbable& found) const {
    for (std::size_t anchor = 0; anchor < head_.anchors.size(); ++anchor) {
      const std::vector<Box> boxes = boxes_above(anchor, found.threshold());
      for (std::size_t c = 0; c < classes_ && !boxes.empty(); ++c)
        read_class(anchor, c, boxes, found);
    }
  }

 private:
  struct Box {
    std::size_t cell;
    double objectness, total;  // of the classes, for softmax
    Candidate place;
  };

  float raw(std::size_t anchor, std::size_t value, std::size_t cell) const {
    return values_[(anchor * each_ + value) * plane_ + cell];
  }
  double score(std::size_t anchor, std::size_t value, std::size_t cell) const {
    const double x = raw(anchor, value, cell);
    return head_.activated ? x : logistic(x);
  }

  /// The boxes that may be of a class.
  std::vector<Box> boxes_above(std::size_t anchor, double threshold) const {
    std::vector<Box> boxes;
    for (std::size_t cell = 0; cell < plane_; ++cell) {
      const double objectness = score(anchor, box_values - 1, cell);
      if (!(objectness > threshold)) continue;  // nor what is not a number
      const Candidate place = box_at(anchor, cell);
      if (!std::isfinite(place.width * place.height * place.x * place.y)) continue;
      boxes.push_back({cell, objectness, class_total(anchor, cell), place});
    }
    return boxes;
  }

  void read_class(std::size_t anchor, std::size_t c, const std::vector<Box>& boxes,
                  MostProbable& found) const {
    for (const Box& box : boxes) {
      const double probability = box.objectness * class_share(anchor, c, box.cell, box.total);
      if (!found.takes(probability)) continue;
      Candidate candidate = box.place;
      candidate.label = static_cast<std::int64_t>(c);
      candidate.probability = probability;
      found.add(candidate);
    }
  }

  bool has_softmax() const { return !head_.activated && head_.kind == Kind::region; }
  double class_total(std::size_t anchor, std::size_t cell) const {
    double total = 0;
    for (std::size_t c = 0; has_softmax() && c < classes_; ++c)
      total += std::exp(raw(anchor, box_values + c, cell));
    return total;
  }
  double class_share(std::size_t anchor, std::size_t c, std::size_t cell, double total) const {
    if (has_softmax()) return std::exp(raw(anchor, box_values + c, cell)) / total;
    return score(anchor, box_values + c, cell);
  }

  double place_in_cell(std::size_t anchor, std::size_t value, std::size_t cell) const {
    const double x = raw(anchor, value, cell);
    if (head_.activated) return x;
    const double inside = head_.new_coords ? x : logistic(x);
    return inside * head_.scale_x_y - (head_.scale_x_y - 1) / 2;
  }
  double length(double value, double usual, double whole) const {
    const double factor = head_.new_coords ? 4 * value * value : std::exp(value);
    return factor * usual / whole;
  }
  Candidate box_at(std::size_t anchor, std::size_t cell) const {
    const auto columns = static_cast<double>(columns_), rows = static_cast<double>(rows_);
    const bool in_cells = head_.kind == Kind::region;  // the anchors
    const double wide = in_cells ? columns : static_cast<double>(input_.width);
    const double high = in_cells ? rows : static_cast<double>(input_.height);
    const formats::darknet::Anchor& usual = head_.anchors[anchor];
    Candidate box;
    box.x = (static_cast<double>(cell % columns_) + place_in_cell(anchor, 0, cell)) / columns;
    box.y = (static_cast<double>(cell / columns_) + place_in_cell(anchor, 1, cell)) / rows;
    box.width = length(raw(anchor, 2, cell), usual.width, wide);
    box.height = length(raw(anchor, 3, cell), usual.height, high);
    return box;
  }

  const HeadSettings& head_;
  std::span<const float> values_;
  std::size_t rows_, columns_, plane_, each_ = 0, classes_ = 0;
  Size input_;
};

/// A full order, so that equal probabilities give the same choice on every machine.
bool is_better(const Candidate& a, const Candidate& b) {
  if (a.probability != b.probability) return a.probability > b.probability;
  return std::tie(a.label, a.y, a.x, a.width, a.height, a.row) <
         std::tie(b.label, b.y, b.x, b.width, b.height, b.row);
}

}  // namespace

void MostProbable::add(const Candidate& candidate) {
  constexpr std::int64_t spare = 4;  // times as many are held before the others are left out
  kept_.push_back(candidate);
  if (static_cast<std::int64_t>(kept_.size()) >= spare * most_) leave_out();
}

void MostProbable::leave_out() {
  if (static_cast<std::int64_t>(kept_.size()) <= most_) return;
  const auto last = kept_.begin() + most_ - 1;
  std::nth_element(kept_.begin(), last, kept_.end(), is_better);
  least_ = last->probability;
  kept_.erase(last + 1, kept_.end());
}

MostProbable::Result MostProbable::take() {
  leave_out();
  const auto kept = static_cast<std::int64_t>(kept_.size());
  return {std::move(kept_), seen_ - kept};
}

void decode(const HeadSettings& head, const network::Array& output, const Size& input,
            MostProbable& found) {
  Reader(head, output, input).read(found);
}

std::int64_t check_head(const HeadSettings& head, const network::Tensor& output,
                        const std::string& place) {
  const auto fail = [&](const std::string& expected) {
    throw InputError(place, fmt::format("the output '{}' is {} {}, expected {}", output.name,
                                        network::to_text(output.type),
                                        network::to_text(output.shape), expected));
  };
  if (head.anchors.empty())
    throw InputError(place, "a head has no anchors; expected a width and a height for each box");
  const auto anchors = static_cast<std::int64_t>(head.anchors.size());
  const auto values = static_cast<std::int64_t>(box_values);
  const network::Shape& shape = output.shape;
  const bool is_image = shape.size() == 4 && shape[0] == 1 && shape[2] > 0 && shape[3] > 0;
  if (!is_image || output.type != network::DataType::float32)
    fail(
        "float32 1 x channels x rows x columns, as convolutions at the end of a detector give; "
        "use another kind of post-processing, such as raw");
  if (shape[1] % anchors != 0 || shape[1] / anchors <= values)
    fail(
        fmt::format("channels for {} anchors: for each x, y, width, height, objectness and the "
                    "same number of classes",
                    anchors));
  return shape[1] / anchors - values;
}

std::vector<Candidate> suppress(std::vector<Candidate> candidates, const Suppression& how) {
  std::sort(candidates.begin(), candidates.end(), is_better);
  std::vector<Candidate> kept;
  std::unordered_map<std::int64_t, std::vector<std::size_t>> of_class;  // places in `kept`
  for (const Candidate& candidate : candidates) {
    std::vector<std::size_t>& better = of_class[how.class_agnostic ? 0 : candidate.label];
    const bool covered = std::any_of(better.begin(), better.end(), [&](std::size_t place) {
      return overlap_of(kept[place], candidate, how.input) > how.overlap;
    });
    if (covered) continue;
    better.push_back(kept.size());
    kept.push_back(candidate);
  }
  return kept;
}

std::vector<Detection> to_picture(const std::vector<Candidate>& candidates, const Size& input,
                                  const Placement& placement, const Size& picture) {
  const View view{input, placement, picture};
  std::vector<Detection> result;
  for (const Candidate& candidate : candidates)
    if (const Detection box = view.detection(candidate); has_area(box)) result.push_back(box);
  return result;
}

}  // namespace millrace::application
