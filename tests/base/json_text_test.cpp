#include "base/json_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/units.h"

namespace millrace {
namespace {

using nlohmann::json;

TEST(JsonText, rounds_to_six_digits_or_three_decimals) {
  EXPECT_EQ(rounded(0.1 + 0.2), 0.3);
  EXPECT_EQ(rounded(26816.51239), 26816.512);
  EXPECT_EQ(rounded(1234567.8912), 1234567.891);
  EXPECT_EQ(rounded(8.279032241463473e-08), 8.27903e-08);
  EXPECT_EQ(rounded(-2.0 / 3), -0.666667);
  EXPECT_EQ(rounded(0), 0);
  EXPECT_EQ(rounded(1.5e200), 1.5e200);
  EXPECT_TRUE(std::isnan(rounded(std::nan(""))));
}

TEST(JsonText, the_shortest_decimal_is_the_same_float) {
  EXPECT_EQ(shortest(0.1F), 0.1);
  EXPECT_EQ(shortest(6.2124925F), 6.2124925);
  EXPECT_EQ(shortest(-std::numeric_limits<float>::infinity()),
            -std::numeric_limits<double>::infinity());
  std::mt19937 bits(1);
  for (int i = 0; i < 1000; ++i) {
    const float value = std::ldexp(static_cast<float>(bits()), static_cast<int>(bits() % 60) - 60);
    EXPECT_EQ(static_cast<float>(shortest(value)), value);
  }
}

TEST(JsonText, times_have_the_digits_of_their_nanoseconds) {
  std::mt19937_64 numbers(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = json_text(json(milliseconds(Time(numbers() % 1'000'000'000))), -1);
    ASSERT_LE(text.size() - text.find('.') - 1, 6U) << text;
  }
  EXPECT_EQ(json_text(json(milliseconds(Time(1'215'059))), -1), "1.215059");
}

TEST(JsonText, is_that_of_the_library_but_for_digits) {
  const json document = json::parse(
      R"({"a": [1, -2, [], {}, "x\n\"", null, true], "b": {"c": {"d": [0.5, 1.0, 1e-7]}}})");
  EXPECT_EQ(json_text(document, 1), document.dump(1));
  EXPECT_EQ(json_text(document, 2), document.dump(2));
  EXPECT_EQ(json_text(document, -1), document.dump());
  EXPECT_EQ(json_text(json(std::nan("")), 1), "null");
  const nlohmann::ordered_json ordered = {{"z", 1}, {"a", 2}};
  EXPECT_EQ(json_text(ordered, -1), R"({"z":1,"a":2})");
}

TEST(JsonText, replaces_what_is_not_utf8_or_refuses_it) {
  EXPECT_EQ(json_text(json{{"a\xff", "b\xff"}}, -1), "{\"a\uFFFD\":\"b\uFFFD\"}");
  EXPECT_THROW(json_text(json{{"a\xff", 1}}, 1, json::error_handler_t::strict), json::type_error);
}

TEST(JsonText, writes_out_what_a_terminal_would_obey) {
  const json document = {{"a\u009b", "\u202eb\033\177層\\"}};
  EXPECT_EQ(json_text(document, -1), "{\"a\\u009b\":\"\\u202eb\\u001b\\u007f層\\\\\"}");
  EXPECT_EQ(json::parse(json_text(document, 1)), document);
}

TEST(JsonText, a_document_says_its_kind_and_is_rounded) {
  EXPECT_EQ(json_document("thing", {{"share", 1.0 / 3}, {"list", {2.0 / 3, 1}}}, -1),
            "{\"format\":1,\"kind\":\"thing\",\"list\":[0.666667,1],\"share\":0.333333}\n");
}

}  // namespace
}  // namespace millrace
