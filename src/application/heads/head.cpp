#include "application/heads/head.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "application/heads/heads.h"
#include "base/error.h"
#include "base/file.h"

namespace millrace::application {
namespace {

constexpr std::string_view yolov5_shape = "1 x boxes x (5 + classes)";
constexpr std::string_view yolov8_shape = "1 x (4 + classes) x boxes";
constexpr std::string_view ends_shape = "1 x boxes x 6";
constexpr std::string_view queries_shape =
    "1 x boxes x (4 + classes), or 1 x boxes x classes and 1 x boxes x 4";

constexpr Head heads[] = {
    {"yolov5", yolov5_shape, true, fit_yolov5, decode_yolov5},
    {"yolov6", yolov5_shape, true, fit_yolov6, decode_yolov5},
    {"yolov7", yolov5_shape, true, fit_yolov5, decode_yolov5},
    {"yolox", yolov5_shape, true, fit_yolox, decode_yolox},
    {"yolov8", yolov8_shape, true, fit_yolov8, decode_yolov8},
    {"yolov9", yolov8_shape, true, fit_yolov8, decode_yolov8},
    {"yolo11", yolov8_shape, true, fit_yolov8, decode_yolov8},
    {"yolo12", yolov8_shape, true, fit_yolov8, decode_yolov8},
    {"end_to_end", ends_shape, false, fit_end_to_end, decode_end_to_end},
    {"yolov10", ends_shape, false, fit_end_to_end, decode_end_to_end},
    {"yolo26", ends_shape, false, fit_end_to_end, decode_end_to_end},
    {"rtdetr", queries_shape, false, fit_rtdetr, decode_rtdetr},
    {"detr", "1 x boxes x (classes + 1) and 1 x boxes x 4", false, fit_detr, decode_detr},
    {"nanodet", "1 x boxes x (classes + 32)", true, fit_nanodet, decode_nanodet},
    {"centernet", "1 x classes x rows x columns, and twice 1 x 2 x rows x columns", false,
     fit_centernet, decode_centernet},
    {"ssd", "1 x boxes x (classes + 1) and 1 x boxes x 4", true, fit_ssd, decode_ssd},
    {"yolo_nas", "1 x boxes x classes and 1 x boxes x 4", true, fit_yolo_nas, decode_yolo_nas},
    {"ultraface", "1 x boxes x 2 and 1 x boxes x 4", true, fit_ultraface, decode_ultraface},
    {"retinaface", "1 x boxes x 2, 1 x boxes x 4 and 1 x boxes x 10", true, fit_retinaface,
     decode_retinaface, keypoints_of_retinaface},
    {"scrfd", "for each of 3 grids boxes x 1, boxes x 4 and perhaps boxes x 10", true, fit_scrfd,
     decode_scrfd, keypoints_of_scrfd},
};

std::string text_of(const Outputs& outputs) {
  std::vector<std::string> list;
  for (const Outputs::Output& output : outputs.list)
    list.push_back(fmt::format("'{}' {}", output.name, network::to_text(output.shape)));
  return fmt::format("{}", fmt::join(list, ", "));
}

/// Whether the head is the first of those that are one head under several names.
bool is_first(const Head& head) {
  const auto same = [&](const Head& other) {
    return other.fit == head.fit && other.decode == head.decode;
  };
  return std::ranges::find_if(heads, same) == &head;
}

/// Lower is better.
int rank_of(const BoxLayout& layout) {
  return (layout.has_known_classes ? 0 : 2) + (layout.is_certain ? 0 : 1);
}

std::string names_of(const std::vector<Recognised>& list) {
  std::vector<std::string_view> names;
  for (const Recognised& each : list) names.push_back(each.head->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

const Head& head_named(const std::string& name, const std::string& place) {
  std::vector<std::string_view> names;
  for (const Head& head : heads) {
    if (head.name == name) return head;
    names.push_back(head.name);
  }
  throw InputError(place, fmt::format("found the head '{}'{}; expected one of {}", name,
                                      did_you_mean(name, names), fmt::join(names, ", ")));
}

Recognised recognise_named(const Outputs& outputs, const std::string& name,
                           const std::string& place) {
  const Head& head = head_named(name, place);
  if (const std::optional<BoxLayout> layout = head.fit(outputs, true)) return {&head, *layout};
  const std::string others = names_of(best_fits(outputs));
  throw InputError(place, fmt::format("the head '{}' expects {}, but the outputs are {}; {}", name,
                                      head.expects, text_of(outputs),
                                      others.empty() ? "no other head fits, use raw or a plug-in"
                                                     : "what fits is: " + others));
}

}  // namespace

std::vector<Recognised> best_fits(const Outputs& outputs) {
  std::vector<Recognised> best;
  for (const Head& head : heads) {
    if (!is_first(head)) continue;
    const std::optional<BoxLayout> layout = head.fit(outputs, false);
    if (!layout) continue;
    if (!best.empty() && rank_of(*layout) < rank_of(best.front().layout)) best.clear();
    if (best.empty() || rank_of(*layout) == rank_of(best.front().layout))
      best.push_back({&head, *layout});
  }
  return best;
}

Recognised recognise(const Outputs& outputs, const std::string& name, const std::string& place) {
  if (!name.empty()) return recognise_named(outputs, name, place);
  const std::vector<Recognised> best = best_fits(outputs);
  if (best.size() == 1) return best.front();
  if (best.empty())
    throw InputError(place, fmt::format("no head fits the outputs {}; name one with 'head', or use "
                                        "raw or a plug-in",
                                        text_of(outputs)));
  throw InputError(place, fmt::format("the outputs {} may be of these heads: {}; say which with "
                                      "'head'",
                                      text_of(outputs), names_of(best)));
}

std::int64_t cells_of(const Size& input, std::int64_t stride) {
  return ((input.width + stride - 1) / stride) * ((input.height + stride - 1) / stride);
}

std::vector<std::int64_t> strides_of(const Size& input, std::int64_t boxes, std::int64_t each) {
  const std::vector<std::int64_t> usual[] = {
      {8, 16, 32}, {8, 16, 32, 64}, {4, 8, 16, 32}, {16, 32}};
  for (const std::vector<std::int64_t>& strides : usual) {
    std::int64_t cells = 0;
    for (const std::int64_t stride : strides) cells += cells_of(input, stride);
    if (cells * each == boxes) return strides;
  }
  return {};
}

std::optional<TableOutputs> table_outputs(const Outputs& outputs) {
  constexpr std::size_t table_rank = 3, planes_rank = 4, grid_rank = 5;
  TableOutputs found;
  std::size_t tables = 0;
  for (std::size_t i = 0; i < outputs.list.size(); ++i) {
    const network::Shape& shape = outputs.list[i].shape;
    const std::size_t rank = shape.size();
    if (rank == grid_rank) continue;  // what the table was made from
    const bool has_values = std::ranges::all_of(shape, [](std::int64_t size) { return size > 0; });
    if (rank == planes_rank && !found.prototypes && shape[0] == 1 && has_values) {
      found.prototypes = i;
      continue;
    }
    if (rank != table_rank || shape[0] != 1 || !has_values) return std::nullopt;
    found.table = i;
    found.outer = shape[1];
    found.inner = shape[2];
    ++tables;
  }
  return tables == 1 ? std::optional(found) : std::nullopt;
}

bool divide(const Outputs& outputs, const TableOutputs& found, std::int64_t fixed,
            BoxLayout& layout) {
  const std::int64_t columns = layout.columns_first ? found.outer : found.inner;
  const HeadFacts& facts = outputs.facts;
  std::int64_t extra = 0;
  if (found.prototypes) {
    layout.prototypes = found.prototypes;
    layout.coefficients = extra = outputs.list[*found.prototypes].shape[1];
  } else if (facts.task == "obb") {
    layout.has_angle = true;
    extra = 1;
  } else if (facts.keypoints > 0) {
    layout.keypoints = facts.keypoints;
    layout.keypoint_values = facts.keypoint_values;
    extra = facts.keypoints * facts.keypoint_values;
  }
  layout.classes = columns - fixed - extra;
  layout.extras = columns - extra;
  layout.has_known_classes = !facts.classes || *facts.classes == layout.classes;
  return layout.classes >= 1;
}

}  // namespace millrace::application
