#include "board/variant.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace millrace::board {
namespace {

TEST(Variant, is_written_as_precision_and_algorithm_and_read_back) {
  EXPECT_EQ(to_text(Variant{}), "f32");
  EXPECT_EQ(to_text(Variant{Precision::bf16, "winograd"}), "bf16:winograd");
  for (const Precision precision :
       {Precision::f32, Precision::bf16, Precision::int8, Precision::f16})
    for (const char* algorithm : {"", "winograd"}) {
      const Variant variant{precision, algorithm};
      EXPECT_EQ(read_variant(to_text(variant), "here"), variant);
    }
}

TEST(Variant, what_is_no_variant_is_answered_with_the_known_words) {
  for (const char* text : {"", "fp32", "f32:", ":winograd"})
    EXPECT_THROW(read_variant(text, "here"), InputError) << text;
}

}  // namespace
}  // namespace millrace::board
