#include "dataflow/fraction.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "dataflow/checked.h"

namespace millrace::dataflow {
namespace {

__int128 common_divisor(__int128 a, __int128 b) {
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  while (b != 0) {
    const __int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

bool fits(__int128 value) {
  return value >= std::numeric_limits<std::int64_t>::min() &&
         value <= std::numeric_limits<std::int64_t>::max();
}

/// All of `text` as a number of digits only.
bool read_digits(const std::string& text, std::int64_t& value) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_decimal(const std::string& text, Fraction& result) {
  constexpr std::size_t most_decimals = 18;
  const auto point = text.find('.');
  const std::string decimals = point == std::string::npos ? "" : text.substr(point + 1);
  if (decimals.size() > most_decimals || (point != std::string::npos && decimals.empty()))
    return false;
  std::int64_t digits = 0, scale = 1;
  if (!read_digits(text.substr(0, point) + decimals, digits)) return false;
  for (std::size_t i = 0; i < decimals.size(); ++i) scale *= 10;
  result = Fraction(digits, scale);
  return true;
}

}  // namespace

Fraction reduced(__int128 over, __int128 under, const std::string& place) {
  const __int128 common = common_divisor(over, under) * (under < 0 ? -1 : 1);
  over /= common;
  under /= common;
  if (!fits(over) || !fits(under)) does_not_fit(place);
  return {static_cast<std::int64_t>(over), static_cast<std::int64_t>(under)};
}

Fraction::Fraction(std::int64_t over, std::int64_t under) : over_(over), under_(under) {
  if (under == 1) return;
  const __int128 common = common_divisor(over, under) * (under < 0 ? -1 : 1);
  if (!fits(over / common) || !fits(under / common)) does_not_fit("a fraction");
  over_ = static_cast<std::int64_t>(over / common);
  under_ = static_cast<std::int64_t>(under / common);
}

Fraction operator+(const Fraction& a, const Fraction& b) {
  const __int128 left = static_cast<__int128>(a.over_) * b.under_;
  const __int128 right = static_cast<__int128>(b.over_) * a.under_;
  __int128 sum = 0;
  if (__builtin_add_overflow(left, right, &sum)) does_not_fit("a fraction");
  return reduced(sum, static_cast<__int128>(a.under_) * b.under_);
}

Fraction operator*(const Fraction& a, const Fraction& b) {
  return reduced(static_cast<__int128>(a.over_) * b.over_,
                 static_cast<__int128>(a.under_) * b.under_);
}

std::strong_ordering operator<=>(const Fraction& a, const Fraction& b) {
  return static_cast<__int128>(a.over_) * b.under_ <=> static_cast<__int128>(b.over_) * a.under_;
}

std::string Fraction::text() const { return fmt::format("{}/{}", over_, under_); }

Fraction parse_fraction(const std::string& text, const std::string& place) {
  const auto slash = text.find('/');
  Fraction over, under(1);
  const bool good = read_decimal(text.substr(0, slash), over) &&
                    (slash == std::string::npos || read_decimal(text.substr(slash + 1), under)) &&
                    under.over() != 0;
  if (!good)
    throw InputError(place, fmt::format("found '{}', expected a fraction of 64-bit numbers such as "
                                        "1/7, 3 or 0.25",
                                        text));
  return over / under;
}

}  // namespace millrace::dataflow
