// Files that are no models, and options that do not fit a model.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "formats/read.h"
#include "support/onnx_model.h"

namespace millrace::formats {

using namespace network;
namespace {

using test::OnnxModel;

OnnxModel model_to_damage() {
  OnnxModel model;
  model.input("x", {1, 3, 8, 8}).weight("w", {4, 3, 3, 3}).output("y");
  model.node("Conv", {"x", "w"}, {"y"});
  return model;
}

/// The message about reading these bytes, or "".
std::string message_of(const std::string& bytes, const ModelSource& options = {}) {
  try {
    read_onnx(bytes, "model.onnx", ".", options);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(WrongFile, an_empty_file_is_no_model) {
  EXPECT_NE(message_of("").find("is empty"), std::string::npos);
}

TEST(WrongFile, text_is_no_model) {
  EXPECT_NE(message_of("hello world, not a model").find("not an ONNX model"), std::string::npos);
}

TEST(WrongFile, every_truncation_is_refused) {
  const std::string bytes = model_to_damage().bytes();
  for (std::size_t size = 0; size + 1 < bytes.size(); ++size)
    EXPECT_NE(message_of(bytes.substr(0, size)), "") << size << " bytes were read";
}

TEST(WrongOption, a_shape_that_contradicts_the_file_is_refused) {
  ModelSource options;
  options.shapes["x"] = {2, 3, 8, 8};
  const std::string text = message_of(model_to_damage().bytes(), options);
  EXPECT_NE(text.find("1x3x8x8 in the file, but was given 2x3x8x8"), std::string::npos) << text;
}

TEST(WrongOption, a_shape_for_an_unknown_input_names_the_nearest) {
  OnnxModel model;
  model.input("image", {1, 4}).output("y");
  model.node("Relu", {"image"}, {"y"});
  ModelSource options;
  options.shapes["imag"] = {1, 4};
  const std::string text = message_of(model.bytes(), options);
  EXPECT_NE(text.find("no input 'imag'; did you mean 'image'?"), std::string::npos) << text;
}

TEST(WrongModel, an_input_of_four_gib_is_refused) {
  OnnxModel model;
  model.input("x", {1, 1, 1 << 15, 1 << 15}).output("y");
  model.node("Relu", {"x"}, {"y"});
  const std::string text = message_of(model.bytes());
  EXPECT_NE(text.find("input 'x': the shape 1x1x32768x32768 needs 4.00 GiB"), std::string::npos)
      << text;
}

TEST(WrongModel, only_a_misspelt_operator_has_a_suggestion) {
  const auto about = [](const std::string& op_type) {
    OnnxModel model;
    model.input("x", {1, 4}).output("y");
    model.node(op_type, {"x"}, {"y"});
    return message_of(model.bytes());
  };
  EXPECT_NE(about("Sofmtax").find("nearest known is Softmax"), std::string::npos);
  EXPECT_EQ(about("ReduceSum").find("nearest"), std::string::npos) << about("ReduceSum");
}

TEST(WrongModel, what_opset_23_adds_is_refused_when_it_is_used) {
  const auto about = [](const std::string& attribute, std::int64_t type) {
    OnnxModel model(23);
    model.input("x", {4}).output("y").weight("scale", test::floats({}, {0.5f}));
    const bool quantizes = attribute == "precision";
    model.node("QuantizeLinear", {"x", "scale"}, {"q"}).set("precision", quantizes ? type : 0);
    model.node("DequantizeLinear", {"q", "scale"}, {"y"}).set("output_dtype", quantizes ? 0 : type);
    return message_of(model.bytes());
  };
  EXPECT_EQ(about("precision", 1), "");
  EXPECT_EQ(about("output_dtype", 1), "");
  EXPECT_NE(about("precision", 10).find("'precision' asks for"), std::string::npos);
  EXPECT_NE(about("output_dtype", 10).find("'output_dtype' asks for"), std::string::npos);
}

TEST(WrongModel, a_split_without_outputs_is_no_division_by_zero) {
  OnnxModel model;
  model.input("x", {4}).output("x");
  model.node("Split", {"x"}, {});
  EXPECT_NO_FATAL_FAILURE(message_of(model.bytes()));
}

TEST(WrongModel, a_batch_of_zero_can_be_chosen) {
  OnnxModel model;
  model.input("x", {0, 4}).output("y");
  model.node("Relu", {"x"}, {"y"});
  const std::string text = message_of(model.bytes());
  EXPECT_NE(text.find("?x4 with open dimensions; give all of them, as in ⟨shape⟩ x=1x4"),
            std::string::npos)
      << text;
}

TEST(WrongModel, a_negative_size_is_open_and_named) {
  OnnxModel model;
  model.input("x", {1, 4}).output("y");
  model.node("Relu", {"x"}, {"y"});
  auto& type = *model.proto().mutable_graph()->mutable_input(0)->mutable_type();
  type.mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(-1);
  const std::string text = message_of(model.bytes());
  EXPECT_NE(text.find("?x4 with open dimensions (the file says -1); give"), std::string::npos)
      << text;
}

TEST(WrongFile, another_ending_is_refused) { EXPECT_THROW(read_network("model.txt"), InputError); }

}  // namespace
}  // namespace millrace::formats
