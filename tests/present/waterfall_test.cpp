#include "present/svg/waterfall.h"

#include <gtest/gtest.h>

#include "present/count_of.h"

namespace millrace::present {
namespace {

using test::count;

const std::vector<WaterfallStep> steps{
    {"alone", {10, 9, 11}}, {"+ threads", {15, 12, 16}}, {"+ <more>", {12, 12, 12}}};

/// 15 / 10, 12 / 9 and 16 / 11.
TEST(Waterfall, tells_medians_ranges_and_what_each_step_added) {
  const std::string text = waterfall_text(steps);
  EXPECT_NE(text.find("9.000 .. 11.00"), std::string::npos) << text;
  EXPECT_NE(text.find("1.45 x  +45.5 %"), std::string::npos) << text;
  EXPECT_NE(text.find("1.20 x  -20.0 %"), std::string::npos) << text;
}

TEST(Waterfall, has_bars_as_long_as_the_largest_rate_allows) {
  const std::string text = waterfall_text(steps);
  // Bars for 16 frames/s have 40 columns: 25; 25 and 13 more; 30.
  EXPECT_EQ(count(text, "█"), 25u + 25u + 30u) << text;
  EXPECT_EQ(count(text, "▒"), 13u) << text;
}

TEST(Waterfall, is_a_picture_with_what_was_there_gained_and_lost) {
  const std::string svg = waterfall_svg(steps, "a & b");
  EXPECT_EQ(svg.rfind("<svg ", 0), 0u);
  EXPECT_NE(svg.find("a &amp; b"), std::string::npos);
  EXPECT_NE(svg.find("+ &lt;more&gt;"), std::string::npos);
  EXPECT_EQ(count(svg, "#f4dcdc"), 1u);  // what the last step lost
  EXPECT_EQ(count(svg, "<g>"), count(svg, "</g>"));
}

}  // namespace
}  // namespace millrace::present
