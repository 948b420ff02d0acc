#include "application/accuracy/compare_findings.h"

#include <gtest/gtest.h>

namespace millrace::application {
namespace {

TEST(are_same, allows_a_few_pixels_of_a_map) {
  Findings a;
  a.map = ClassMap{100, 100, std::vector<std::uint8_t>(10'000)};
  Findings b = a;
  EXPECT_TRUE(are_same(a, b));
  for (std::size_t i = 0; i < 10; ++i) b.map->classes[i] = 1;
  EXPECT_TRUE(are_same(a, b));
  b.map->classes[10] = 1;
  EXPECT_FALSE(are_same(a, b));
  b.map.reset();
  EXPECT_FALSE(are_same(a, b));
}

TEST(are_same, compares_texts_and_vectors) {
  Findings a;
  a.text = {{"hello", 0.9}};
  a.embedding = {{1, 2}};
  Findings b = a;
  b.text->probability = 0.8999;
  b.embedding->at(0) = 1.0001f;
  EXPECT_TRUE(are_same(a, b));
  b.text->text = "hallo";
  EXPECT_FALSE(are_same(a, b));
  b = a;
  b.embedding->at(1) = 3;
  EXPECT_FALSE(are_same(a, b));
  b.embedding->pop_back();
  EXPECT_FALSE(are_same(a, b));
}

}  // namespace
}  // namespace millrace::application
