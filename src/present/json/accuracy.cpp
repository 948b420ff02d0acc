#include "present/json/accuracy.h"

namespace millrace::present {
namespace {

using application::ClassPrecision;

nlohmann::json share_or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

nlohmann::json counts_json(const ClassPrecision& counts) {
  return {{"objects", counts.objects},
          {"right", counts.right},
          {"wrong", counts.wrong},
          {"precision", share_or_null(counts.precision())},
          {"recall", share_or_null(counts.recall())},
          {"average_precision", share_or_null(counts.all)},
          {"average_precision_50", share_or_null(counts.at_50)}};
}

nlohmann::json class_json(const ClassPrecision& counts, const std::vector<std::string>& labels) {
  nlohmann::json result = counts_json(counts);
  const auto label = static_cast<std::size_t>(counts.label);
  result["class"] = counts.label;
  if (label < labels.size()) result["label"] = labels[label];
  return result;
}

nlohmann::json detection_json(const application::AveragePrecision& precision,
                              const std::vector<std::string>& labels) {
  nlohmann::json classes = nlohmann::json::array();
  for (const ClassPrecision& each : precision.classes) classes.push_back(class_json(each, labels));
  nlohmann::json result = counts_json(precision.together);
  result["average_precision_75"] = share_or_null(precision.at_75);
  result["average_precision_small"] = share_or_null(precision.small);
  result["average_precision_medium"] = share_or_null(precision.medium);
  result["average_precision_large"] = share_or_null(precision.large);
  result["average_recall"] = share_or_null(precision.largest_recall);
  result["threshold"] = precision.threshold;
  result["classes"] = classes;
  return result;
}

}  // namespace

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
