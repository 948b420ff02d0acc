#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "application/sink.h"
#include "base/error.h"

namespace millrace::application {
namespace {

using Json = nlohmann::ordered_json;

Json named(std::int64_t label, const std::vector<std::string>& labels) {
  Json json = {{"class", label}};
  if (label >= 0 && label < static_cast<std::int64_t>(labels.size()))
    json["label"] = labels[static_cast<std::size_t>(label)];
  return json;
}

Json json_of(const Detection& detection, const std::vector<std::string>& labels) {
  Json json = named(detection.label, labels);
  json["probability"] = detection.probability;
  json["box"] = {{"left", detection.left},
                 {"top", detection.top},
                 {"width", detection.width},
                 {"height", detection.height}};
  return json;
}

/// ISO 8601, such as "2026-05-04T13:02:05.123Z".
std::string utc_text(std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto rest = std::chrono::floor<std::chrono::milliseconds>(time - whole);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(whole)), rest.count());
}

}  // namespace

std::string json_line(const Outcome& outcome, const std::vector<std::string>& labels) {
  const Picture& picture = outcome.picture;
  const Findings& findings = outcome.findings;
  Json line = {{"frame", picture.frame},
               {"source", picture.name}};
  // By a division: a product with 1e-9 is often not the number nearest to the decimal one.
  if (picture.time) line["time_s"] = static_cast<double>(picture.time->count()) / 1e9;
  if (picture.captured) line["time_utc"] = utc_text(*picture.captured);
  line["latency_ms"] = milliseconds(outcome.latency);
  if (!picture.image.empty()) {
    line["width"] = picture.image.width;
    line["height"] = picture.image.height;
  }
  if (findings.detections) {
    line["detections"] = Json::array();
    for (const Detection& detection : *findings.detections)
      line["detections"].push_back(json_of(detection, labels));
  }
  if (findings.left_out > 0) line["left_out"] = findings.left_out;
  if (findings.classes) {
    line["classes"] = Json::array();
    for (const Ranked& ranked : *findings.classes) {
      line["classes"].push_back(named(ranked.label, labels));
      line["classes"].back()["value"] = ranked.value;
    }
  }
  if (!findings.json.empty()) {
    Json own = Json::parse(findings.json, nullptr, false);
    if (own.is_discarded())
      throw InputError("postprocess", "the findings' 'json' is no JSON; expected one value");
    line["result"] = std::move(own);
  }
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace millrace::application
