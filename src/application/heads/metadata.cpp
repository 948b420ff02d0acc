#include "application/heads/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace millrace::application {
namespace {

/// The texts of a list or a dictionary of numbers as Python prints it.
std::vector<std::string> quoted_texts(const std::string& text) {
  constexpr std::size_t most = 100'000;
  std::vector<std::string> result;
  for (std::size_t i = 0; i < text.size() && result.size() < most; ++i) {
    const char quote = text[i];
    if (quote != '\'' && quote != '"') continue;
    std::string word;
    for (++i; i < text.size() && text[i] != quote; ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      word += text[i];
    }
    result.push_back(word);
  }
  return result;
}

std::vector<std::int64_t> numbers_in(const std::string& text) {
  std::vector<std::int64_t> result;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    std::int64_t number = 0;
    const auto read = std::from_chars(at, end, number);
    if (read.ec == std::errc()) result.push_back(number);
    at = read.ptr > at ? read.ptr : at + 1;
  }
  return result;
}

/// Beyond that they are a slip.
bool is_keypoints(const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t most = 10'000;
  return shape.size() == 2 && shape[0] >= 1 && shape[0] <= most && shape[1] >= 2 && shape[1] <= 3;
}

}  // namespace

std::string metadata_value(const network::Network& network, const std::string& key) {
  const auto found = network.metadata.find(key);
  return found == network.metadata.end() ? std::string() : found->second;
}

std::vector<std::string> names_in(const network::Network& network) {
  return quoted_texts(metadata_value(network, "names"));
}

HeadFacts facts_of(const Application& application, const network::Network& network) {
  HeadFacts facts = application.postprocess.detection.facts;
  if (facts.task.empty()) facts.task = metadata_value(network, "task");
  const std::vector<std::int64_t> shape = numbers_in(metadata_value(network, "kpt_shape"));
  if (facts.keypoints == 0 && is_keypoints(shape)) {
    facts.keypoints = shape[0];
    facts.keypoint_values = shape[1];
  }
  const std::size_t labels =
      application.labels.empty() ? names_in(network).size() : application.labels.size();
  if (labels > 0) facts.classes = static_cast<std::int64_t>(labels);
  return facts;
}

void take_labels(Application& application, const network::Network& network) {
  const std::string& kind = application.postprocess.kind;
  const bool has_classes = kind == "detect" || kind == "top_k" || kind == "segmentation";
  if (!application.labels.empty() || !has_classes || network.outputs.empty()) return;
  std::vector<std::string> names = names_in(network);
  const network::Shape& shape = network[network.outputs.front()].shape;
  const auto count = static_cast<std::int64_t>(names.size());
  if (kind == "detect" || std::ranges::find(shape, count) != shape.end())
    application.labels = std::move(names);
}

void check_labels(const Application& application, std::int64_t classes) {
  const auto labels = static_cast<std::int64_t>(application.labels.size());
  if (labels > 0 && labels != classes)
    throw InputError(
        application.postprocess.place,
        fmt::format("the network has {} classes, but there {}; give one label per class", classes,
                    labels == 1 ? "is 1 label" : fmt::format("are {} labels", labels)));
}

}  // namespace millrace::application
