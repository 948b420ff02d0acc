#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "application/sink.h"
#include "base/error.h"
#include "base/json_text.h"
#include "base/text/masked.h"
#include "base/units.h"

namespace millrace::application {
namespace {

using Json = nlohmann::ordered_json;

Json named(std::int64_t label, const std::vector<std::string>& labels) {
  Json json = {{"class", label}};
  if (label >= 0 && label < static_cast<std::int64_t>(labels.size()))
    json["label"] = labels[static_cast<std::size_t>(label)];
  return json;
}

Json numbers_of(const Point& point) { return {point.x, point.y}; }

/// How many pixels outside and inside follow each other, in turn, row by row.
Json json_of(const Mask& mask) {
  Json runs = Json::array();
  std::uint8_t now = 0;
  std::int64_t length = 0;
  for (const std::uint8_t pixel : mask.inside) {
    if (pixel == now) {
      ++length;
      continue;
    }
    runs.push_back(length);
    now = pixel;
    length = 1;
  }
  if (length > 0) runs.push_back(length);
  return {{"left", mask.left},
          {"top", mask.top},
          {"width", mask.width},
          {"height", mask.height},
          {"runs", runs}};
}

void add_parts(const Detection& detection, Json& json) {
  for (const Point& corner : detection.corners) json["corners"].push_back(numbers_of(corner));
  for (const Keypoint& keypoint : detection.keypoints)
    json["keypoints"].push_back(
        {{"x", keypoint.at.x}, {"y", keypoint.at.y}, {"probability", keypoint.probability}});
  if (detection.mask) json["mask"] = json_of(*detection.mask);
}

/// What a processing finds, but for boxes and maps: of a picture, or of a crop.
template <class Found>
void add_rounded(const Found& found, const std::vector<std::string>& labels, Json& json) {
  if (found.classes) {
    json["classes"] = Json::array();
    for (const Ranked& ranked : *found.classes) {
      json["classes"].push_back(named(ranked.label, labels));
      json["classes"].back()["value"] = rounded(ranked.value);
    }
  }
  if (found.text)
    json["text"] = {{"value", found.text->text}, {"probability", rounded(found.text->probability)}};
}

template <class Found>
void add_unrounded(const Found& found, Json& json) {
  if (found.embedding) {
    json["embedding"] = Json::array();
    for (const float value : *found.embedding) json["embedding"].push_back(shortest(value));
  }
  if (found.json.empty()) return;
  Json own = Json::parse(found.json, nullptr, false);
  if (own.is_discarded())
    throw InputError("postprocess", "the findings' 'json' is no JSON; expected one value");
  json["result"] = std::move(own);
}

Json json_of(const CropFindings& crop, const std::vector<std::string>& labels) {
  Json json = {
      {"left", crop.left}, {"top", crop.top}, {"width", crop.width}, {"height", crop.height}};
  add_rounded(crop, labels, json);
  add_unrounded(crop, json);
  return json;
}

Json json_of(const Detection& detection, const std::vector<std::string>& labels) {
  Json json = named(detection.label, labels);
  json["probability"] = detection.probability;
  json["box"] = {{"left", detection.left},
                 {"top", detection.top},
                 {"width", detection.width},
                 {"height", detection.height}};
  add_parts(detection, json);
  return json;
}

/// The classes of the map, those with the most pixels first.
Json json_of(const ClassMap& map, const std::vector<std::string>& labels) {
  std::vector<std::int64_t> pixels(256);
  for (const std::uint8_t label : map.classes) ++pixels[label];
  std::vector<std::int64_t> order;
  for (std::int64_t label = 0; label < 256; ++label)
    if (pixels[static_cast<std::size_t>(label)] > 0) order.push_back(label);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::int64_t label) {
    return pixels[static_cast<std::size_t>(label)];
  });
  Json json = Json::array();
  for (const std::int64_t label : order) {
    json.push_back(named(label, labels));
    json.back()["share"] = static_cast<double>(pixels[static_cast<std::size_t>(label)]) /
                           static_cast<double>(map.classes.size());
  }
  return json;
}

/// ISO 8601, such as "2026-05-04T13:02:05.123Z".
std::string utc_text(std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto rest = std::chrono::floor<std::chrono::milliseconds>(time - whole);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(whole)), rest.count());
}

/// Boxes and maps, which were computed in many digits, without those that mean nothing.
Json rounded_findings(const Findings& findings, const std::vector<std::string>& labels) {
  Json found = Json::object();
  if (findings.detections) {
    found["detections"] = Json::array();
    for (const Detection& detection : *findings.detections)
      found["detections"].push_back(json_of(detection, labels));
  }
  if (findings.left_out > 0) found["left_out"] = findings.left_out;
  if (findings.map) found["segments"] = json_of(*findings.map, labels);
  round_numbers(found);
  return found;
}

void add_findings(const Findings& findings, const Labels& labels, Json& line) {
  line.update(rounded_findings(findings, labels.own));
  add_rounded(findings, labels.own, line);
  add_unrounded(findings, line);
  for (const CropFindings& crop : findings.crops)
    line["detections"][crop.detection]["crop"] = json_of(crop, labels.of_crops);
  if (findings.not_cropped > 0) line["not_cropped"] = findings.not_cropped;
}

/// To a microsecond, by the machine's clock.
Json seconds_at(ReleaseTimes::Moment moment) {
  return seconds(std::chrono::round<std::chrono::microseconds>(moment.time_since_epoch()));
}

void add_times(const ReleaseTimes& times, Json& line) {
  line["group"] = times.group;
  line["arrived_s"] = seconds_at(times.arrived);
  line["due_s"] = seconds_at(times.due);
  line["released_s"] = seconds_at(times.released);
  line["end_s"] = seconds_at(times.end);
  line["response_ms"] = milliseconds(times.end - times.due);
  line["deadline_ms"] = milliseconds(times.deadline);
  line["bound_ms"] = times.bound ? Json(milliseconds(*times.bound)) : Json();
}

}  // namespace

std::string findings_json(const Findings& findings, const Labels& labels) {
  Json json = Json::object();
  add_findings(findings, labels, json);
  return json_text(json, -1);
}

std::string json_line(const Outcome& outcome, const Labels& labels) {
  const Picture& picture = outcome.picture;
  Json line = {{"frame", picture.frame}, {"source", masked(picture.name)}};
  if (!picture.input.empty()) line["input"] = picture.input;
  if (picture.time) line["time_s"] = seconds(*picture.time);
  if (picture.captured) line["time_utc"] = utc_text(*picture.captured);
  line["latency_ms"] = milliseconds(outcome.latency);
  if (picture.captured) line["lag_ms"] = milliseconds(picture.lag);
  if (outcome.times) add_times(*outcome.times, line);
  if (picture.stamp) line["stamp_s"] = seconds(*picture.stamp);
  if (picture.gap > Time{}) line["gap_ms"] = milliseconds(picture.gap);
  if (!picture.image.empty()) {
    line["width"] = picture.image.width;
    line["height"] = picture.image.height;
  }
  add_findings(outcome.findings, labels, line);
  return json_text(line, -1) + "\n";
}

}  // namespace millrace::application
