#include "present/results/accuracy.h"

#include <fmt/format.h>

#include "present/description.h"

namespace millrace::present {
namespace {

using application::AveragePrecision;
using application::ClassAccuracy;
using application::ClassPrecision;

std::string percent_or_none(const std::optional<double>& share) {
  return share ? fmt::format("{:.2f} %", 100 * *share) : "none";
}

/// Counts of a class, or of all together.
struct PrecisionRow {
  std::string name;
  const ClassPrecision& counts;
};

const Description<PrecisionRow>& precision_fields() {
  const auto count = [](std::int64_t ClassPrecision::*part) {
    return [part](const PrecisionRow& row) { return row.counts.*part; };
  };
  const auto share = [](auto part) {
    return [part](const PrecisionRow& row) {
      const std::optional<double> value = std::invoke(part, row.counts);
      return Value{or_null(value), percent_or_none(value)};
    };
  };
  static const Description<PrecisionRow> fields({
      {"", "class", &PrecisionRow::name},
      {"objects", "objects", count(&ClassPrecision::objects)},
      {"average_precision_50", "AP at 0.5", share(&ClassPrecision::at_50)},
      {"average_precision", "AP 0.5:0.95", share(&ClassPrecision::all)},
      {"right", "right", count(&ClassPrecision::right)},
      {"wrong", "wrong", count(&ClassPrecision::wrong)},
      {"precision", "precision", share(&ClassPrecision::precision)},
      {"recall", "recall", share(&ClassPrecision::recall)},
  });
  return fields;
}

std::string classes_text(const ClassAccuracy& classes) {
  const auto share = [&](std::int64_t count) {
    return 100 * static_cast<double>(count) / static_cast<double>(classes.frames);
  };
  std::string text = fmt::format("accuracy: {} of {} frames, {:.2f} %\n", classes.right,
                                 classes.frames, share(classes.right));
  if (classes.top > 1)
    text += fmt::format("among the first {}: {} of {} frames, {:.2f} %\n", classes.top,
                        classes.among, classes.frames, share(classes.among));
  return text;
}

std::string boxes_text(const AveragePrecision& precision, const application::Accuracy& accuracy) {
  std::vector<PrecisionRow> rows;
  for (const ClassPrecision& each : precision.classes) {
    const auto label = static_cast<std::size_t>(each.label);
    rows.push_back({label < accuracy.labels.size() ? accuracy.labels[label]
                                                   : fmt::format("class {}", each.label),
                    each});
  }
  return fmt::format(
      "accuracy on {} frames; right and wrong: boxes above the threshold {:.4g}, at an overlap of "
      "0.5\n\n{}\nAP at 0.75: {}; small objects: {}, medium: {}, large: {}; average recall: {}\n",
      accuracy.frames, precision.threshold,
      precision_fields().text(rows, {"all", precision.together}),
      percent_or_none(precision.at_75), percent_or_none(precision.small),
      percent_or_none(precision.medium), percent_or_none(precision.large),
      percent_or_none(precision.largest_recall));
}

nlohmann::json detection_json(const AveragePrecision& precision,
                              const std::vector<std::string>& labels) {
  nlohmann::json result = precision_fields().json({"", precision.together});
  result.update({{"average_precision_75", or_null(precision.at_75)},
                 {"average_precision_small", or_null(precision.small)},
                 {"average_precision_medium", or_null(precision.medium)},
                 {"average_precision_large", or_null(precision.large)},
                 {"average_recall", or_null(precision.largest_recall)},
                 {"threshold", precision.threshold},
                 {"classes", nlohmann::json::array()}});
  for (const ClassPrecision& each : precision.classes) {
    nlohmann::json row = precision_fields().json({"", each});
    row["class"] = each.label;
    const auto label = static_cast<std::size_t>(each.label);
    if (label < labels.size()) row["label"] = labels[label];
    result["classes"].push_back(std::move(row));
  }
  return result;
}

}  // namespace

std::string accuracy_text(const application::Accuracy& accuracy) {
  if (accuracy.detection) return boxes_text(*accuracy.detection, accuracy);
  return classes_text(*accuracy.classes);
}

nlohmann::json accuracy_json(const std::optional<application::Accuracy>& accuracy) {
  if (!accuracy) return nullptr;
  nlohmann::json result = {{"frames", accuracy->frames},
                           {"frames_without_truth", accuracy->without_truth},
                           {"truth_without_frame", accuracy->not_seen},
                           {"detection", nullptr},
                           {"classification", nullptr}};
  if (accuracy->detection)
    result["detection"] = detection_json(*accuracy->detection, accuracy->labels);
  if (const auto& classes = accuracy->classes)
    result["classification"] = {
        {"right", classes->right}, {"top", classes->top}, {"right_in_top", classes->among}};
  return result;
}

}  // namespace millrace::present
