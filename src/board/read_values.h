#pragma once
// What the readers of a board file's parts share: numbers in bounds, words of a list, origins.
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "board/device.h"

namespace millrace::board {

/// Bounds that leave room for any board and catch slips of units.
struct Bounds {
  double low = 0, high = 1e9;
  bool above = false;  // the low end itself is not meant
};
inline constexpr Bounds positive{0, 1e9, true};
inline constexpr int largest_core = (1 << 20) - 1;

double read_number(const YamlView& view, const Bounds& bounds);
int read_count(const YamlView& view, int low, int high);

/// Reads giga-operations or gigabytes per second: the whole number that the value stands for.
double read_giga(const YamlView& view);
Time read_microseconds(const YamlView& view);
Milliwatts read_power(const YamlView& view);
/// The size in the one field among size_kib, size_mib, size_gib that is there.
Bytes read_size(const YamlView& view);

std::vector<std::string> read_texts(const YamlView& view);
/// The position of the text among `words`.
std::size_t read_word(const YamlView& view, std::span<const std::string_view> words);
Precision read_precision(const YamlView& view);

/// The names of what the file defines once and refers to.
class Names {
 public:
  explicit Names(std::string_view what) : what_(what) {}

  /// A name of its own, at least one visible character.
  std::string add(const YamlView& view);
  /// The same for a name that follows from what stands there.
  std::string add(const YamlView& view, std::string name);
  /// One that was added before.
  std::string refer(const YamlView& view) const;

 private:
  std::string_view what_;
  std::vector<std::string> names_;
};

/// The key `source`: the name of one source, or one for each key with numbers and `other` for the
/// rest.
Origins read_origins(const YamlView& view, const Names& sources);

}  // namespace millrace::board
