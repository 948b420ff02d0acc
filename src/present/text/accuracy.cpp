#include "present/text/accuracy.h"

#include <fmt/format.h>

#include "present/text/table.h"

namespace millrace::present {
namespace {

using application::AveragePrecision;
using application::ClassAccuracy;
using application::ClassPrecision;

std::string percent_or_none(const std::optional<double>& share) {
  return share ? fmt::format("{:.2f} %", 100 * *share) : "none";
}

std::string label_text(std::int64_t label, const std::vector<std::string>& labels) {
  const auto number = static_cast<std::size_t>(label);
  return number < labels.size() ? labels[number] : fmt::format("class {}", label);
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

std::string precisions_table(const AveragePrecision& precision,
                             const std::vector<std::string>& labels) {
  Table table({{"class", Align::left},
               {"objects"},
               {"AP at 0.5"},
               {"AP 0.5:0.95"},
               {"right"},
               {"wrong"},
               {"precision"},
               {"recall"}});
  const auto add = [&](const std::string& name, const ClassPrecision& each) {
    table.add({name, std::to_string(each.objects), percent_or_none(each.at_50),
               percent_or_none(each.all), std::to_string(each.right), std::to_string(each.wrong),
               percent_or_none(each.precision()), percent_or_none(each.recall())});
  };
  for (const ClassPrecision& each : precision.classes) add(label_text(each.label, labels), each);
  table.add_rule();
  add("all", precision.together);
  return table.text();
}

std::string boxes_text(const AveragePrecision& precision, const application::Accuracy& accuracy) {
  return fmt::format(
      "accuracy on {} frames; right and wrong: boxes above the threshold {:.4g}, at an overlap of "
      "0.5\n\n{}\nAP at 0.75: {}; small objects: {}, medium: {}, large: {}; average recall: {}\n",
      accuracy.frames, precision.threshold, precisions_table(precision, accuracy.labels),
      percent_or_none(precision.at_75), percent_or_none(precision.small),
      percent_or_none(precision.medium), percent_or_none(precision.large),
      percent_or_none(precision.largest_recall));
}

}  // namespace

std::string accuracy_text(const application::Accuracy& accuracy) {
  if (accuracy.detection) return boxes_text(*accuracy.detection, accuracy);
  return classes_text(*accuracy.classes);
}

}  // namespace millrace::present
