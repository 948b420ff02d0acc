#include "application/accuracy/average_precision.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <set>

namespace millrace::application {
namespace {

constexpr std::size_t overlaps = 10, levels = 101, ranges = 4;
constexpr std::size_t most_of_class = 100;  // in a picture

/// A range of areas of objects: all, small, medium or large ones.
struct AreaRange {
  double least, most;
  bool leaves_out(double area) const { return area < least || area > most; }
};
constexpr double huge = 1e10;
constexpr std::array<AreaRange, ranges> area_ranges{
    {{0, huge}, {0, 32 * 32}, {32 * 32, 96 * 96}, {96 * 96, huge}}};

double overlap_level(std::size_t i) {
  constexpr double step = (0.95 - 0.5) / (overlaps - 1);
  return i + 1 == overlaps ? 0.95 : static_cast<double>(i) * step + 0.5;
}

double recall_level(std::size_t i) {
  constexpr double step = 1.0 / (levels - 1);
  return i + 1 == levels ? 1 : static_cast<double>(i) * step;
}

/// Intersection over union; for a crowd over the area of the detection, which may be a part of it.
double overlap_with(const Detection& found, const MarkedObject& marked) {
  const double across = std::min(found.left + found.width, marked.left + marked.width) -
                        std::max(found.left, marked.left);
  const double down = std::min(found.top + found.height, marked.top + marked.height) -
                      std::max(found.top, marked.top);
  if (across <= 0 || down <= 0) return 0;
  const double both = across * down, area = found.width * found.height;
  return both / (marked.crowd ? area : area + marked.width * marked.height - both);
}

/// What became of a detection.
enum class Judgement : std::uint8_t { wrong, right, ignored };

struct Judged {
  double probability;
  Judgement judgement;
};

/// What is marked and found of one class in one picture.
class PictureOfClass {
 public:
  PictureOfClass(const Examined& picture, std::int64_t label) {
    for (const MarkedObject& each : picture.marked)
      if (each.label == label) marked_.push_back(&each);
    for (const Detection& each : picture.found)
      if (each.label == label) found_.push_back(&each);
    std::stable_sort(found_.begin(), found_.end(), [](const Detection* a, const Detection* b) {
      return a->probability > b->probability;
    });
    found_.resize(std::min(found_.size(), most_of_class));
    for (const Detection* found : found_)
      for (const MarkedObject* marked : marked_) overlaps_.push_back(overlap_with(*found, *marked));
  }

  std::int64_t objects(const AreaRange& range) const {
    return std::count_if(marked_.begin(), marked_.end(),
                         [&](const MarkedObject* each) { return !is_ignored(*each, range); });
  }

  bool is_empty() const { return marked_.empty() && found_.empty(); }
  void judge(const AreaRange& range, double least, std::vector<Judged>& judged) const {
    if (found_.empty()) return;
    const Order order = order_in(range);
    std::vector<bool> taken(marked_.size());
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const std::size_t best = best_for(i, order, taken, least);
      const Detection& found = *found_[i];
      Judgement judgement = best < order.counted ? Judgement::right : Judgement::ignored;
      if (best == order.objects.size())
        judgement =
            range.leaves_out(found.width * found.height) ? Judgement::ignored : Judgement::wrong;
      else
        taken[order.objects[best]] = true;
      judged.push_back({found.probability, judgement});
    }
  }

 private:
  static bool is_ignored(const MarkedObject& object, const AreaRange& range) {
    return object.crowd || object.ignored || range.leaves_out(object.area);
  }

  /// Objects in an order: first those that count.
  struct Order {
    std::vector<std::size_t> objects;
    std::size_t counted = 0;
  };
  Order order_in(const AreaRange& range) const {
    Order order;
    order.objects.resize(marked_.size());
    std::iota(order.objects.begin(), order.objects.end(), std::size_t{0});
    const auto rest =
        std::stable_partition(order.objects.begin(), order.objects.end(),
                              [&](std::size_t i) { return !is_ignored(*marked_[i], range); });
    order.counted = static_cast<std::size_t>(rest - order.objects.begin());
    return order;
  }

  /// Its place in the order; the order's size: there is none.
  std::size_t best_for(std::size_t found, const Order& order, const std::vector<bool>& taken,
                       double least) const {
    double most = std::min(least, 1 - 1e-10);
    std::size_t best = order.objects.size();
    for (std::size_t i = 0; i < order.objects.size(); ++i) {
      if (i == order.counted && best < i) break;  // what counts goes before what is ignored
      const std::size_t object = order.objects[i];
      if (taken[object] && !marked_[object]->crowd) continue;
      const double overlap = overlaps_[found * marked_.size() + object];
      if (overlap < most) continue;
      most = overlap;
      best = i;
    }
    return best;
  }

  std::vector<const MarkedObject*> marked_;
  std::vector<const Detection*> found_;
  std::vector<double> overlaps_;  // by detection, then by object
};

struct Curve {
  double average = 0, recall = 0;  // precision over the levels; the largest recall
};

/// `judged`: by falling probability.
Curve curve_of(const std::vector<Judged>& judged, std::int64_t objects) {
  std::vector<double> recalls, precisions;
  double right = 0, wrong = 0;
  for (const Judged& each : judged) {
    right += each.judgement == Judgement::right ? 1 : 0;
    wrong += each.judgement == Judgement::wrong ? 1 : 0;
    recalls.push_back(right / static_cast<double>(objects));
    precisions.push_back(right / (right + wrong + std::numeric_limits<double>::epsilon()));
  }
  for (std::size_t i = precisions.size(); i-- > 1;)
    precisions[i - 1] = std::max(precisions[i - 1], precisions[i]);
  Curve curve;
  for (std::size_t i = 0; i < levels; ++i) {
    const auto at = std::lower_bound(recalls.begin(), recalls.end(), recall_level(i));
    if (at != recalls.end())
      curve.average += precisions[static_cast<std::size_t>(at - recalls.begin())];
  }
  curve.average /= levels;
  if (!recalls.empty()) curve.recall = recalls.back();
  return curve;
}

struct RangeResult {
  std::int64_t objects = 0;
  std::array<Curve, overlaps> curves;  // if there are objects
};

class ClassResult {
 public:
  ClassResult(std::span<const Examined> pictures, std::int64_t label, double threshold) {
    precision_.label = label;
    std::vector<PictureOfClass> parts;
    for (const Examined& picture : pictures)
      if (PictureOfClass part(picture, label); !part.is_empty()) parts.push_back(std::move(part));
    for (std::size_t range = 0; range < ranges; ++range) add(range, parts, threshold);
    precision_.objects = ranges_[0].objects;
    if (precision_.objects == 0) return;
    precision_.all = mean(ranges_[0], &Curve::average);
    precision_.at_50 = ranges_[0].curves[0].average;
  }

  const ClassPrecision& precision() const { return precision_; }
  const RangeResult& range(std::size_t i) const { return ranges_[i]; }
  static double mean(const RangeResult& range, double Curve::*value) {
    double sum = 0;
    for (const Curve& curve : range.curves) sum += curve.*value;
    return sum / overlaps;
  }

 private:
  void add(std::size_t range, const std::vector<PictureOfClass>& parts, double threshold) {
    RangeResult& result = ranges_[range];
    for (const PictureOfClass& part : parts) result.objects += part.objects(area_ranges[range]);
    for (std::size_t i = 0; i < overlaps; ++i) {
      std::vector<Judged> judged;
      for (const PictureOfClass& part : parts)
        part.judge(area_ranges[range], overlap_level(i), judged);
      if (range == 0 && i == 0) count(judged, threshold);
      if (result.objects == 0) continue;
      std::stable_sort(judged.begin(), judged.end(), [](const Judged& a, const Judged& b) {
        return a.probability > b.probability;
      });
      result.curves[i] = curve_of(judged, result.objects);
    }
  }

  void count(const std::vector<Judged>& judged, double threshold) {
    for (const Judged& each : judged) {
      if (!(each.probability > threshold)) continue;
      precision_.right += each.judgement == Judgement::right ? 1 : 0;
      precision_.wrong += each.judgement == Judgement::wrong ? 1 : 0;
    }
  }

  ClassPrecision precision_;
  std::array<RangeResult, ranges> ranges_;
};

std::optional<double> quotient(std::int64_t part, std::int64_t all) {
  if (all == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(all);
}

/// Over the classes with objects in this range of areas.
template <class Value>
std::optional<double> mean_over(const std::vector<ClassResult>& classes, std::size_t range,
                                const Value& value) {
  double sum = 0;
  std::int64_t count = 0;
  for (const ClassResult& each : classes) {
    if (each.range(range).objects == 0) continue;
    sum += value(each.range(range));
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

std::set<std::int64_t> labels_in(std::span<const Examined> pictures) {
  std::set<std::int64_t> labels;
  for (const Examined& picture : pictures) {
    for (const MarkedObject& each : picture.marked) labels.insert(each.label);
    for (const Detection& each : picture.found) labels.insert(each.label);
  }
  return labels;
}

}  // namespace

std::optional<double> ClassPrecision::precision() const { return quotient(right, right + wrong); }
std::optional<double> ClassPrecision::recall() const { return quotient(right, objects); }

AveragePrecision average_precision(std::span<const Examined> pictures, double threshold) {
  std::vector<ClassResult> classes;
  for (const std::int64_t label : labels_in(pictures))
    classes.emplace_back(pictures, label, threshold);
  const auto average = [](const RangeResult& range) {
    return ClassResult::mean(range, &Curve::average);
  };
  const auto at = [&](std::size_t overlap) {
    return mean_over(classes, 0,
                     [=](const RangeResult& range) { return range.curves[overlap].average; });
  };
  AveragePrecision result;
  result.threshold = threshold;
  result.all = mean_over(classes, 0, average);
  result.at_50 = at(0);
  result.at_75 = at(5);
  result.small = mean_over(classes, 1, average);
  result.medium = mean_over(classes, 2, average);
  result.large = mean_over(classes, 3, average);
  result.largest_recall = mean_over(classes, 0, [](const RangeResult& range) {
    return ClassResult::mean(range, &Curve::recall);
  });
  result.together.all = result.all;
  result.together.at_50 = result.at_50;
  for (const ClassResult& each : classes) {
    const ClassPrecision& one = each.precision();
    if (one.objects > 0 || one.right + one.wrong > 0) result.classes.push_back(one);
    result.together.objects += one.objects;
    result.together.right += one.right;
    result.together.wrong += one.wrong;
  }
  return result;
}

}  // namespace millrace::application
