#include "blob.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "failure.h"

namespace millrace::test {
namespace {

using namespace millrace_rknn;

TEST(RknnBlob, comes_back_as_it_was) {
  const std::string model("RKNN\n\0input 7\n", 14);
  const std::string bytes = to_bytes({"rk3588", {{1, 3, 4, 5}, {2}}, {{1, 10}}, model});
  const Blob blob = blob_in(bytes);
  EXPECT_EQ(blob.platform, "rk3588");
  EXPECT_EQ(blob.inputs, (std::vector<Sizes>{{1, 3, 4, 5}, {2}}));
  EXPECT_EQ(blob.outputs, (std::vector<Sizes>{{1, 10}}));
  EXPECT_EQ(blob.model, model);
}

TEST(RknnBlob, that_is_none_is_refused) {
  EXPECT_THROW(blob_in(""), SdkFailure);
  EXPECT_THROW(blob_in("RKNN\nmodel\n"), SdkFailure);
  EXPECT_THROW(blob_in("rknn of millrace 1\nplatform rk3588\n"), SdkFailure);
}

}  // namespace
}  // namespace millrace::test
