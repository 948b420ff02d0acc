#include "application/natural_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace millrace::application {
namespace {

TEST(NaturalOrder, takes_numbers_by_their_value) {
  std::vector<std::string> ordered{"10.png", "img10a20", "img10.png", "img2.png", "b",      "",
                                   "2.png",  "img02.png", "img10a3",  "a.png",    "img.png"};
  std::sort(ordered.begin(), ordered.end(), is_before);
  const auto place = [&](const std::string& name) {
    return std::find(ordered.begin(), ordered.end(), name) - ordered.begin();
  };
  EXPECT_LT(place("2.png"), place("10.png"));
  EXPECT_LT(place("img2.png"), place("img10.png"));
  EXPECT_LT(place("img02.png"), place("img10.png"));
  EXPECT_LT(place("img10a3"), place("img10a20"));
  EXPECT_LT(place("a.png"), place("b"));
  EXPECT_EQ(place(""), 0);
}

TEST(NaturalOrder, is_an_order) {
  std::mt19937 random(1);
  std::vector<std::string> names(60);
  for (std::string& name : names)
    while (random() % 6 != 0) name += "0123ab-"[random() % 7];
  for (const auto& a : names)
    for (const auto& b : names) {
      EXPECT_EQ(is_before(a, b) || is_before(b, a), a != b) << a << " " << b;
      for (const auto& c : names)
        EXPECT_FALSE(is_before(a, b) && is_before(b, c) && !is_before(a, c)) << a << b << c;
    }
}

}  // namespace
}  // namespace millrace::application
