#include "dataflow/fraction.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "support/message_of.h"

namespace millrace::dataflow {
namespace {

using millrace::test::message_of;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

TEST(Fraction, is_in_lowest_terms_with_a_positive_denominator) {
  EXPECT_EQ(Fraction(6, 8).text(), "3/4");
  EXPECT_EQ(Fraction(6, -8).text(), "-3/4");
  EXPECT_EQ(Fraction(0, 5).text(), "0/1");
  EXPECT_EQ(Fraction(5).text(), "5/1");
}

TEST(Fraction, calculates_exactly) {
  EXPECT_EQ(Fraction(1, 6) + Fraction(1, 3), Fraction(1, 2));
  EXPECT_EQ(Fraction(2, 3) * Fraction(9, 4), Fraction(3, 2));
  EXPECT_EQ(Fraction(2, 3) / Fraction(4, 9), Fraction(3, 2));
  EXPECT_EQ(Fraction(largest, 3) * Fraction(3, largest), Fraction(1));
}

TEST(Fraction, compares_exactly) {
  EXPECT_LT(Fraction(largest - 1, largest), Fraction(1));
  EXPECT_LT(Fraction(largest - 2, largest - 1), Fraction(largest - 1, largest));
  EXPECT_GT(Fraction(-1, 3), Fraction(-1, 2));
}

TEST(Fraction, overflow_is_an_error) {
  EXPECT_NE(message_of([] { Fraction(largest) * Fraction(2); }).find("64 bits"), std::string::npos);
  EXPECT_NE(message_of([] { Fraction(1, largest) + Fraction(1, largest - 1); }).find("64 bits"),
            std::string::npos);
}

TEST(Fraction, is_read_from_text) {
  EXPECT_EQ(parse_fraction("1/7", "here"), Fraction(1, 7));
  EXPECT_EQ(parse_fraction("12", "here"), Fraction(12));
  EXPECT_EQ(parse_fraction("0.25", "here"), Fraction(1, 4));
  EXPECT_EQ(parse_fraction("1.5/3", "here"), Fraction(1, 2));
  for (const char* bad :
       {"", "x", "1/", "/2", "1/0", "-1", "1/2/3", "1.", "1e3", "99999999999999999999"})
    EXPECT_EQ(message_of([&] { parse_fraction(bad, "here"); }).rfind("here: found '", 0), 0u)
        << bad;
}

}  // namespace
}  // namespace millrace::dataflow
