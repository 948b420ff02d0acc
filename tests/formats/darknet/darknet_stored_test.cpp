// Trained networks against the outputs of the original, by plain loops.
#include <gtest/gtest.h>

#include "formats/random_weights.h"
#include "network/evaluate/evaluate.h"
#include "support/compare.h"
#include "support/darknet.h"
#include "support/shared.h"

namespace millrace::formats {

using namespace network;
namespace {

class StoredDarknet : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, StoredDarknet,
                         testing::Values("yolo-fastest-1.1", "yolo-fastest-1.1_body",
                                         "MobileNetV2-YOLOv3-Nano-coco"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name) c = c == '-' || c == '.' ? '_' : c;
                           return name;
                         });

TEST_P(StoredDarknet, outputs_are_the_originals) {
  MILLRACE_NEEDS_SHARED("models/darknet");
  const auto stored =
      test::read_stored_darknet(test::shared_folder() / "models/darknet", GetParam());
  EXPECT_FALSE(has_random_weights(stored.model.network));
  validate(stored.model.network);
  const std::vector<Array> outputs = evaluate(stored.model.network, {&stored.input, 1});
  ASSERT_EQ(outputs.size(), 4u);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double error = test::relative_error(outputs[i], stored.layers[i].values);
    EXPECT_LT(error, 1e-3) << "layer " << stored.layers[i].number;
    std::printf("%s layer %zu: %.1e\n", GetParam(), stored.layers[i].number, error);
  }
}

}  // namespace
}  // namespace millrace::formats
