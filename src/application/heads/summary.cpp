#include "application/heads/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace millrace::application {
namespace {

/// "2 x person, 1 x dog", most first.
std::string counts_of(const std::vector<Detection>& detections,
                      const std::vector<std::string>& labels) {
  std::map<std::int64_t, int> counts;
  for (const Detection& detection : detections) ++counts[detection.label];
  std::vector<std::pair<std::int64_t, int>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (const auto& [label, count] : sorted)
    words.push_back(fmt::format("{} x {}", count, class_name(label, labels)));
  return words.empty() ? "nothing" : fmt::format("{}", fmt::join(words, ", "));
}

std::string first_classes(const std::vector<Ranked>& classes,
                          const std::vector<std::string>& labels) {
  constexpr std::size_t most = 3;
  std::vector<std::string> words;
  for (const Ranked& ranked : classes)
    if (words.size() < most)
      words.push_back(fmt::format("{} {:.3g}", class_name(ranked.label, labels), ranked.value));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string names_in_map(const ClassMap& map, const std::vector<std::string>& labels) {
  const std::set<std::uint8_t> classes(map.classes.begin(), map.classes.end());
  std::vector<std::string> words;
  for (const std::uint8_t label : classes) words.push_back(class_name(label, labels));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

std::string class_name(std::int64_t label, const std::vector<std::string>& labels) {
  const bool has_name = label >= 0 && label < static_cast<std::int64_t>(labels.size());
  return has_name ? labels[static_cast<std::size_t>(label)] : fmt::format("class {}", label);
}

std::string summary_line(const Outcome& outcome, const Labels& labels) {
  const Findings& findings = outcome.findings;
  std::string found = "done";
  if (findings.detections) found = counts_of(*findings.detections, labels.own);
  if (findings.classes) found = first_classes(*findings.classes, labels.own);
  if (findings.map) found = names_in_map(*findings.map, labels.own);
  if (findings.text) found = '"' + findings.text->text + '"';
  return fmt::format("{}: {}", outcome.picture.name, found);
}

}  // namespace millrace::application
