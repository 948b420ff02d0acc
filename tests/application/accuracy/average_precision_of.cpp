// The average precision of detections in COCO's form, for pycocotools_test.py: TRUTH DETECTIONS.
#include <fmt/format.h>

#include "application/accuracy/average_precision.h"
#include "base/json.h"

namespace {

using namespace millrace;
using namespace millrace::application;

nlohmann::json or_minus_one(const std::optional<double>& value) { return value ? *value : -1.0; }

std::vector<Examined> examined(const std::string& truth_path, const std::string& found_path) {
  const GroundTruth truth = read_coco(truth_path, {});
  std::map<std::string, std::vector<Detection>> found;
  const nlohmann::json all = read_json(found_path);
  for (const auto& each : all) {
    const auto& box = each.at("bbox");
    found[each.at("file_name")].push_back(
        {each.at("label"), each.at("score"), box[0], box[1], box[2], box[3]});
  }
  std::vector<Examined> result;
  for (const auto& [name, picture] : truth.pictures)
    result.push_back({picture.objects, found[name]});
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const AveragePrecision found = average_precision(examined(argv[1], argv[2]), 0.5);
  nlohmann::json classes = nlohmann::json::object();
  for (const ClassPrecision& each : found.classes)
    classes[std::to_string(each.label)] = {or_minus_one(each.all), or_minus_one(each.at_50)};
  const nlohmann::json result = {
      {"stats",
       {or_minus_one(found.all), or_minus_one(found.at_50), or_minus_one(found.at_75),
        or_minus_one(found.small), or_minus_one(found.medium), or_minus_one(found.large),
        or_minus_one(found.largest_recall)}},
      {"classes", classes}};
  fmt::print("{}\n", result.dump());
}
