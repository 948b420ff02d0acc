// Inputs whose values are given when the model is read.
#include <gtest/gtest.h>

#include "formats/fixed_inputs.h"
#include "network/evaluate/evaluate.h"
#include "support/message_of.h"
#include "support/onnx_model.h"

namespace millrace::formats {

using namespace network;
namespace {

using test::OnnxModel;

ModelSource fixed(const std::string& text) {
  ModelSource source;
  add_fixed(source, text, "--fix");
  return source;
}

/// Its output is the input `v`; x is an input too, which nobody reads.
Array value_of(const Shape& shape, DataType type, const ModelSource& source) {
  OnnxModel model;
  model.input("x", {1}).input("v", shape, type).output("y");
  model.node("Identity", {"v"}, {"y"});
  const Network network = model.read(source);
  EXPECT_EQ(network.inputs.size(), 1u);
  return *network[network.outputs[0]].constant;
}

Array value_of(const Shape& shape, DataType type, const std::string& text) {
  return value_of(shape, type, fixed("v=" + text));
}

template <class T>
std::vector<T> fixed_values(const Array& array) {
  const auto all = array.values<T>();
  return {all.begin(), all.end()};
}

TEST(FixedInput, has_the_type_of_the_input) {
  EXPECT_EQ(fixed_values<std::int64_t>(value_of({}, DataType::int64, "16000")),
            (std::vector<std::int64_t>{16000}));
  EXPECT_EQ(fixed_values<std::int64_t>(value_of({}, DataType::int64, "-9007199254740993")),
            (std::vector<std::int64_t>{-9007199254740993}));
  EXPECT_EQ(fixed_values<std::int32_t>(value_of({2}, DataType::int32, "5,3")),
            (std::vector<std::int32_t>{5, 3}));
  EXPECT_EQ(fixed_values<float>(value_of({1, 2}, DataType::float32, "0.5,-1e3")),
            (std::vector<float>{0.5f, -1000}));
  EXPECT_EQ(fixed_values<std::uint8_t>(value_of({3}, DataType::boolean, "true,0,1")),
            (std::vector<std::uint8_t>{1, 0, 1}));
}

TEST(FixedInput, one_number_is_for_all_places) {
  EXPECT_EQ(fixed_values<float>(value_of({2, 2}, DataType::float32, "3")),
            (std::vector<float>{3, 3, 3, 3}));
}

TEST(FixedInput, numbers_say_how_long_an_open_list_is) {
  EXPECT_EQ(value_of({-1}, DataType::int64, "4,5,6").shape, (Shape{3}));
  ModelSource source = fixed("v=7");
  source.shapes["v"] = {2, 3};
  EXPECT_EQ(value_of({-1, -1}, DataType::int64, source).shape, (Shape{2, 3}));
}

TEST(FixedInput, that_does_not_fit_is_refused_with_the_input) {
  const auto refusal = [](const Shape& shape, DataType type, const std::string& text) {
    return test::message_of([&] { value_of(shape, type, text); });
  };
  EXPECT_EQ(refusal({3}, DataType::int64, "1,2"),
            "model.onnx: the input 'v': has 3 places, but was given 2 values; give one for each, "
            "or one for all");
  for (const std::string text : {"1.5", "300", "-1"})
    EXPECT_NE(refusal({}, DataType::uint8, text)
                  .find("the input 'v': has type uint8, which cannot "
                        "have such a value"),
              std::string::npos)
        << text;
  EXPECT_NE(refusal({-1, -1}, DataType::int64, "7").find("⟨shape⟩ v=1x1"), std::string::npos);
  const std::string unknown = test::message_of([] { value_of({}, DataType::int64, fixed("w=1")); });
  EXPECT_NE(unknown.find("has no input 'w'"), std::string::npos) << unknown;
}

TEST(FixedInput, makes_a_shape_known) {
  OnnxModel model;
  model.input("x", {1}).input("n", {}, DataType::int64).output("y");
  model.node("Expand", {"x", "shape"}, {"many"});
  model.integers("list", {1}).node("Reshape", {"n", "list"}, {"shape"});
  model.node("ReduceSum", {"many"}, {"y"}).set("keepdims", 0);
  const Network network = model.read(fixed("n=4"));
  const Array y = evaluate(network, std::vector<Array>{test::floats({4})}).at(0);
  EXPECT_EQ(y.values<float>()[0], 16);
}

}  // namespace
}  // namespace millrace::formats
