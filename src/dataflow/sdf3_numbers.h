#pragma once
// Numbers and sequences of numbers in SDF3 files.
#include <cstdint>
#include <string>
#include <vector>

namespace millrace::dataflow {

/// "1,18*32" is a 1 and eighteen times 32; decimals are kept as digits and scaled together later.
struct Sequence {
  std::vector<std::int64_t> digits;  // 2.5 is the digits 25 ...
  std::vector<int> decimals;         // ... of which 1 stands behind the point

  /// The numbers times 10^scale. InputError naming `place` if that does not fit.
  std::vector<std::int64_t> scaled(int scale, const std::string& place) const;
};

/// What numbers mean, for messages, and which are allowed.
struct Expected {
  const char* what;  // "rate"
  bool decimals = false;
};

/// InputError naming `place`.
Sequence parse_sequence(const std::string& text, const Expected& expected,
                        const std::string& place);

/// One whole number from 0 on.
std::int64_t parse_count(const std::string& text, const char* what, const std::string& place);

/// The shortest text that parse_sequence reads back.
std::string sequence_text(const std::vector<std::int64_t>& values);

}  // namespace millrace::dataflow
