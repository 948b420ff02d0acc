#include "millrace/model.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "face/digits.h"
#include "millrace/error.h"
#include "millrace/millrace.h"

namespace {

using millrace::ByteView;
using millrace::Error;
using millrace::ErrorKind;
using millrace::Model;
using millrace::ModelFormat;
using millrace::ModelMemory;
using millrace::test::bytes_of;
using millrace::test::digits;

ByteView view(const std::string& bytes) { return {bytes.data(), bytes.size()}; }

/// The model without its weights, which are in `weights` then, as exporters write large ones.
std::string with_weights_apart(std::string& weights) {
  onnx::ModelProto model;
  model.ParseFromString(bytes_of(digits));
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (!tensor.has_raw_data()) continue;
    const auto add = [&](const char* key, const std::string& value) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    add("location", "digits.data");
    add("offset", std::to_string(weights.size()));
    add("length", std::to_string(tensor.raw_data().size()));
    weights += tensor.raw_data();
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  }
  return model.SerializeAsString();
}

template <class Work>
Error error_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error("nothing was thrown");
}

TEST(FaceModel, from_memory_is_the_file) {
  const std::string bytes = bytes_of(digits);
  const Model file = Model::from_file(digits), memory = Model::from_memory({view(bytes)});
  EXPECT_EQ(memory.hash(), file.hash());
  ASSERT_EQ(memory.inputs().size(), 1u);
  EXPECT_EQ(memory.inputs()[0].shape, (millrace::Shape{1, 1, 8, 8}));
  EXPECT_EQ(memory.layers().size(), file.layers().size());
}

TEST(FaceModel, weights_apart_are_taken_by_their_name) {
  std::string weights;
  const std::string bytes = with_weights_apart(weights);
  ASSERT_GT(weights.size(), 100'000u);
  ModelMemory memory{view(bytes)};
  memory.weights["digits.data"] = view(weights);
  EXPECT_EQ(Model::from_memory(memory).hash(), Model::from_file(digits).hash());
}

TEST(FaceModel, weights_that_lack_or_are_too_short_are_named) {
  std::string weights;
  const std::string bytes = with_weights_apart(weights);
  ModelMemory memory{view(bytes)};
  Error error = error_of([&] { Model::from_memory(memory); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_NE(error.finding().find("'digits.data', of which no bytes are given"), std::string::npos)
      << error.what();
  EXPECT_EQ(error.remedy(), "give them by this name");
  memory.weights["digits.data"] = {weights.data(), weights.size() - 1};
  error = error_of([&] { Model::from_memory(memory); });
  EXPECT_NE(error.finding().find("are given"), std::string::npos) << error.what();
}

/// A convolution of one weight and a bias, whose weights a file holds behind its header.
TEST(FaceModel, darknet_comes_from_memory_with_its_weights) {
  const std::string text =
      "[net]\nwidth=2\nheight=2\nchannels=1\n[convolutional]\nfilters=1\nsize=1\nstride=1\n"
      "activation=linear\n";
  std::string weights(20, '\0');
  weights[4] = 2;  // version 0.2: the count of images has 8 bytes
  for (const float value : {0.5f, 3.0f})  // bias, weight
    weights.append(reinterpret_cast<const char*>(&value), sizeof value);
  ModelMemory memory{view(text), ModelFormat::darknet, "tiny"};
  memory.weights["tiny.weights"] = view(weights);
  millrace::PlanRequest request;
  request.measuring = {};
  request.options.cache = false;
  auto session = plan(Model::from_memory(memory), request).start();
  const auto outputs = session.run({millrace::Tensor::of<float>({1, 1, 2, 2}, {1, 2, 3, 4})});
  const auto values = outputs.at(0).values<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()),
            (std::vector<float>{3.5f, 6.5f, 9.5f, 12.5f}));
}

TEST(FaceModel, an_error_says_place_finding_and_remedy) {
  const Error error = error_of([] { Model::from_file("nowhere.onnx"); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_EQ(error.place(), "nowhere.onnx");
  EXPECT_FALSE(error.finding().empty());
  EXPECT_FALSE(error.remedy().empty());
}

TEST(FaceModel, tensors_are_as_large_as_they_say) {
  const std::vector<float> three{1, 2, 3};
  const Error error = error_of([&] { millrace::Tensor::of({2}, three); });
  EXPECT_NE(error.finding().find("12 bytes, expected 8"), std::string::npos) << error.what();
  const millrace::Tensor tensor = millrace::Tensor::of({3}, three);
  EXPECT_THROW(tensor.values<std::int64_t>(), Error);
  EXPECT_EQ(tensor.values<float>()[2], 3);
}

}  // namespace
