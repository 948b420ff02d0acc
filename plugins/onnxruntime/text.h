#pragma once
// Texts for people.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace_onnxruntime {

template <class Words>
std::string joined(const Words& words, std::string_view between) {
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

/// How many letters must be put in, taken out or changed to make one word of the other.
inline std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

/// "; did you mean 'x'?" for the nearest of the words, if one is near.
inline std::string did_you_mean(std::string_view word, std::span<const std::string_view> words) {
  const auto nearest = std::min_element(words.begin(), words.end(), [&](auto a, auto b) {
    return distance(word, a) < distance(word, b);
  });
  if (nearest == words.end() || distance(word, *nearest) > 1 + word.size() / 4) return {};
  return "; did you mean '" + std::string(*nearest) + "'?";
}

}  // namespace millrace_onnxruntime
