#pragma once
// Quantities as people write them.
#include <string>

#include "base/units.h"

namespace millrace {

/// "100ms", "0.5s", "250us"; more than 0. InputError naming `place`.
Time read_duration(const std::string& text, const std::string& place);
/// As read_duration takes it, exactly.
std::string duration_text(Time time);

/// "512MiB", "1.5GiB", "64KiB"; more than 0. InputError naming `place`.
Bytes read_bytes(const std::string& text, const std::string& place);
/// As read_bytes takes it, exactly.
std::string bytes_text(Bytes bytes);

/// "1%" or "0.01" as 0.01. InputError naming `place`.
double read_share(const std::string& text, const std::string& place);

/// Digits and a sign, and nothing behind them. Number: std::int64_t, std::uint64_t or double.
/// InputError naming `place`.
template <class Number>
Number read_number(const std::string& text, const std::string& place);

}  // namespace millrace
