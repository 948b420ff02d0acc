#pragma once
// Exact fractions of 64-bit integers.
#include <compare>
#include <cstdint>
#include <string>

namespace millrace::dataflow {

/// In lowest terms, the denominator positive. What does not fit 64 bits after reducing is an
/// InputError, never a wrong value; intermediate results have 128 bits.
class Fraction {
 public:
  constexpr Fraction() = default;
  /// Precondition: under is not 0.
  Fraction(std::int64_t over, std::int64_t under = 1);

  std::int64_t over() const { return over_; }
  std::int64_t under() const { return under_; }
  double value() const { return static_cast<double>(over_) / static_cast<double>(under_); }
  std::string text() const;  // "3/4"; "5/1" for whole numbers
  /// Precondition: not 0.
  Fraction inverse() const { return {under_, over_}; }

  friend Fraction operator+(const Fraction& a, const Fraction& b);
  friend Fraction operator*(const Fraction& a, const Fraction& b);
  friend Fraction operator/(const Fraction& a, const Fraction& b) { return a * b.inverse(); }
  friend bool operator==(const Fraction&, const Fraction&) = default;
  friend std::strong_ordering operator<=>(const Fraction& a, const Fraction& b);

 private:
  std::int64_t over_ = 0, under_ = 1;
};

/// over / under in lowest terms; InputError naming `place` if they exceed 64 bits. Precondition:
/// under is not 0.
Fraction reduced(__int128 over, __int128 under, const std::string& place = "a fraction");

/// "3/4", "5" or "0.25". InputError naming `place`.
Fraction parse_fraction(const std::string& text, const std::string& place);

}  // namespace millrace::dataflow
