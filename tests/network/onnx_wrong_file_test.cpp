// Files that are no models, and options that do not fit a model.
#include <gtest/gtest.h>

#include "base/error.h"
#include "network/read.h"
#include "support/onnx_model.h"

namespace millrace::network {
namespace {

using test::OnnxModel;

OnnxModel model_to_damage() {
  OnnxModel model;
  model.input("x", {1, 3, 8, 8}).weight("w", {4, 3, 3, 3}).output("y");
  model.node("Conv", {"x", "w"}, {"y"});
  return model;
}

/// The message about reading these bytes, or "".
std::string message_of(const std::string& bytes, const ReadOptions& options = {}) {
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
  ReadOptions options;
  options.shapes["x"] = {2, 3, 8, 8};
  const std::string text = message_of(model_to_damage().bytes(), options);
  EXPECT_NE(text.find("1x3x8x8 in the file, but was given 2x3x8x8"), std::string::npos) << text;
}

TEST(WrongOption, a_shape_for_an_unknown_input_names_the_nearest) {
  OnnxModel model;
  model.input("image", {1, 4}).output("y");
  model.node("Relu", {"image"}, {"y"});
  ReadOptions options;
  options.shapes["imag"] = {1, 4};
  const std::string text = message_of(model.bytes(), options);
  EXPECT_NE(text.find("no input 'imag'; did you mean 'image'?"), std::string::npos) << text;
}

TEST(WrongFile, another_ending_is_refused) { EXPECT_THROW(read_network("model.txt"), InputError); }

}  // namespace
}  // namespace millrace::network
