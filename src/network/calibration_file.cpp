#include "network/calibration_file.h"

#include <array>
#include <cmath>

#include "base/json.h"
#include "base/json_text.h"

namespace millrace::network {
namespace {

using nlohmann::json;

constexpr int format = 1;

float number_of_range(const JsonView& view) {
  const auto value = static_cast<float>(view.number());
  if (!std::isfinite(value)) view.fail("is too large for float32");
  return value;
}

Range range_of(const JsonView& view) {
  static constexpr std::array<std::string_view, 2> known{"low", "high"};
  view.only(known);
  const Range range{number_of_range(view.at("low")), number_of_range(view.at("high"))};
  if (range.low > 0 || range.high < 0)
    view.fail(
        "the range must hold 0 (low <= 0 <= high); make the table again with `millrace "
        "calibrate`");
  return range;
}

}  // namespace

void write_calibration(const std::filesystem::path& path, const CalibrationTable& table) {
  json ranges = json::object();
  for (const auto& [name, range] : table.calibration.ranges)
    ranges[name] = {{"low", shortest(range.low)}, {"high", shortest(range.high)}};
  json document{
      {"format", format},       {"kind", "calibration"},  {"network", table.calibration.network},
      {"method", table.method}, {"frames", table.frames}, {"ranges", ranges}};
  for (const auto& [name, means] : table.calibration.means)
    for (const float mean : means) document["means"][name].push_back(shortest(mean));
  write_json(path, document);
}

std::map<std::string, std::vector<float>> read_means(const JsonView& view) {
  std::map<std::string, std::vector<float>> means;
  for (const std::string& tensor : view.keys())
    for (const JsonView& number : view.at(tensor).items())
      means[tensor].push_back(number_of_range(number));
  return means;
}

CalibrationTable read_calibration(const std::filesystem::path& path) {
  static constexpr std::array<std::string_view, 7> known{"format", "kind",   "network", "method",
                                                         "frames", "ranges", "means"};
  const json document = read_json(path);
  const JsonView view(document, path.string());
  view.only(known);
  if (view.at("kind").text() != "calibration")
    view.at("kind").fail("is not 'calibration'; make a table with `millrace calibrate`");
  if (view.at("format").integer() != format)
    view.at("format").fail(
        "is not 1, the format this version reads; run `millrace calibrate` again");
  CalibrationTable table;
  table.calibration.network = view.at("network").text();
  table.method = view.at("method").text();
  table.frames = view.at("frames").integer();
  const JsonView ranges = view.at("ranges");
  for (const std::string& name : ranges.keys())
    table.calibration.ranges[name] = range_of(ranges.at(name));
  if (view.has("means")) table.calibration.means = read_means(view.at("means"));
  return table;
}

std::vector<TensorId> calibrated_tensors(const Network& network) {
  std::vector<TensorId> tensors;
  const auto add = [&](TensorId id) {
    if (id.valid() && network[id].type == DataType::float32 && !network[id].constant)
      tensors.push_back(id);
  };
  for (const TensorId input : network.inputs) add(input);
  for (const Layer& layer : network.layers)
    for (const TensorId output : layer.outputs) add(output);
  return tensors;
}

Verdict fits(const Calibration& calibration, const Network& network) {
  if (calibration.network != hash_of(network))
    return Verdict::no("it was made for another network (or for other input shapes)");
  for (const TensorId id : calibrated_tensors(network))
    if (!calibration.ranges.contains(network[id].name))
      return Verdict::no("it has no range for the tensor '" + network[id].name + "'");
  return Verdict::yes();
}

}  // namespace millrace::network
