// Damaged models give a network or an InputError, nothing else.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "base/random.h"
#include "network/read.h"
#include "support/onnx_model.h"

namespace millrace::network {
namespace {

using test::OnnxModel;

/// A little of everything: windows, shapes that are computed, lists as attributes and inputs.
std::string small_model() {
  OnnxModel model(11);
  model.input("x", {1, 2, 6, 6}).weight("w", {4, 2, 3, 3}).weight("b", {4}).output("y");
  for (const char* name : {"scale", "bias", "mean", "variance"}) model.weight(name, Shape{4});
  model.integers("wanted", {1, -1}).integers("pads", {0, 0, 1, 1, 0, 0, 1, 1});
  model.node("Pad", {"x", "pads"}, {"padded"});
  model.node("Conv", {"padded", "w", "b"}, {"c"}).set_list("pads", {1, 1, 1, 1});
  model.node("BatchNormalization", {"c", "scale", "bias", "mean", "variance"}, {"n"});
  model.node("MaxPool", {"n"}, {"p"}).set_list("kernel_shape", {2, 2}).set_list("strides", {2, 2});
  model.node("Shape", {"p"}, {"shape"});
  model.node("ConstantOfShape", {"shape"}, {"zeros"});
  model.node("Add", {"p", "zeros"}, {"sum"});
  model.node("Split", {"sum"}, {"left", "right"}).set("axis", 1).set_list("split", {1, 3});
  model.node("Concat", {"left", "right"}, {"joined"}).set("axis", 1);
  model.node("Transpose", {"joined"}, {"turned"}).set_list("perm", {0, 2, 3, 1});
  model.node("Reshape", {"turned", "wanted"}, {"y"});
  return model.bytes();
}

std::string damaged(const std::string& bytes, Random& random) {
  std::string result = bytes;
  if (random.below(4) == 0) result.resize(random.below(result.size() + 1));
  for (std::uint64_t i = random.below(8); i > 0 && !result.empty(); --i)
    result[random.below(result.size())] = static_cast<char>(random.below(256));
  return result;
}

TEST(DamagedModel, gives_a_network_or_an_input_error) {
  const std::string bytes = small_model();
  ASSERT_NO_THROW(validate(read_onnx(bytes, "model.onnx", ".")));
  Random random(2026);
  int read = 0;
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string wrong = damaged(bytes, random);
    try {
      validate(read_onnx(wrong, "model.onnx", "."));
      ++read;
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(read, 50);
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace millrace::network
