#pragma once
// Names as people number them: img2 before img10.
#include <algorithm>
#include <cctype>
#include <string_view>

namespace millrace::application {

/// Takes the digits, or what is not digits, from the front.
inline std::string_view take_part(std::string_view& name) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const bool number = is_digit(name.front());
  const auto end = std::find_if(name.begin(), name.end(),
                                [&](char c) { return is_digit(c) != number; });
  const std::string_view part = name.substr(0, static_cast<std::size_t>(end - name.begin()));
  name.remove_prefix(part.size());
  return part;
}

/// Whether `a` stands before `b`: numbers by their value, all else by bytes. If that makes no
/// difference, bytes do.
inline bool is_before(std::string_view a, std::string_view b) {
  std::string_view rest_a = a, rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    std::string_view part_a = take_part(rest_a), part_b = take_part(rest_b);
    if (std::isdigit(static_cast<unsigned char>(part_a.front())) != 0 &&
        std::isdigit(static_cast<unsigned char>(part_b.front())) != 0) {
      part_a.remove_prefix(std::min(part_a.find_first_not_of('0'), part_a.size()));
      part_b.remove_prefix(std::min(part_b.find_first_not_of('0'), part_b.size()));
      if (part_a.size() != part_b.size()) return part_a.size() < part_b.size();
    }
    if (part_a != part_b) return part_a < part_b;
  }
  if (rest_a.empty() != rest_b.empty()) return rest_a.empty();
  return a < b;
}

}  // namespace millrace::application
