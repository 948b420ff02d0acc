#include <gtest/gtest.h>

#include "engine/onednn/primitives/primitives.h"

namespace millrace::engine::onednn {
namespace {

/// Names as ONEDNN_VERBOSE=1 prints them for AVX-512, AVX2 and ARM.
TEST(family_of, knows_the_kernels_that_are_treated_differently) {
  using enum KernelFamily;
  EXPECT_EQ(family_of("jit:avx512_core"), other);
  EXPECT_EQ(family_of("brgconv:avx512_core_vnni"), other);
  EXPECT_EQ(family_of("ref:any"), reference);
  EXPECT_EQ(family_of("gemm:ref"), reference);
  EXPECT_EQ(family_of("jit_dw:avx2"), depthwise);
  EXPECT_EQ(family_of("brdgmm:avx512_core"), depthwise_blocks);
  EXPECT_EQ(family_of("x64:gemm:jit"), generated_product);
  EXPECT_EQ(family_of("x64:gemm_s8u8s32:jit"), product);
  EXPECT_EQ(family_of("simple:any"), simple);
  EXPECT_EQ(family_of("jit:simple"), other);
}

}  // namespace
}  // namespace millrace::engine::onednn
