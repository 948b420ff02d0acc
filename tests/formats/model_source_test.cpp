#include "formats/model_source.h"

#include <gtest/gtest.h>

#include "base/yaml.h"
#include "formats/fixed_inputs.h"
#include "support/message_of.h"

namespace millrace::formats {

using namespace network;
namespace {

using test::message_of;

TEST(ModelSource, a_shape_has_a_name_and_sizes) {
  ModelSource source;
  add_shape(source, "image=1x3x224x224", "--shape");
  add_shape(source, "a=b=7", "--shape");
  EXPECT_EQ(source.shapes.at("image"), (Shape{1, 3, 224, 224}));
  EXPECT_EQ(source.shapes.at("a=b"), (Shape{7}));
  for (const char* wrong : {"", "image", "=1x3", "image=", "image=1x", "image=1x0", "image=1y2"})
    EXPECT_NE(message_of([&] { add_shape(source, wrong, "--shape"); }).find("expected NAME=SIZE"),
              std::string::npos)
        << wrong;
  EXPECT_NE(message_of([&] { add_shape(source, "image=1", "--shape"); })
                .find("--shape image=1: is the second shape for this input"),
            std::string::npos);
}

TEST(ModelSource, a_document_says_what_suits_the_kind_of_model) {
  const auto read = [](const std::string& text) {
    const YamlNode document = parse_yaml(text, "folder/a.yaml");
    return read_model_source(YamlView(document, "folder/a.yaml"));
  };
  EXPECT_EQ(read("{model: resnet18, size: 96}"), (ModelSource{.file = "resnet18", .size = 96}));
  EXPECT_EQ(read("{model: n.cfg, weights: w/n.weights}"),
            (ModelSource{.file = "folder/n.cfg", .weights = "folder/w/n.weights"}));
  EXPECT_EQ(read("{model: resnet18, weights: random}"),
            (ModelSource{.file = "resnet18", .weights = "random"}));
  EXPECT_EQ(absolute(read("{model: n.cfg, weights: random}")).weights, "random");
  EXPECT_EQ(read("{model: n.cfg, weights: ./random}").weights, "folder/./random");
  EXPECT_EQ(read("{model: n.onnx, shapes: ['x=1x2']}"),
            (ModelSource{.file = "folder/n.onnx", .shapes = {{"x", {1, 2}}}}));
  EXPECT_EQ(fixed_text(read("{model: n.onnx, fix: ['sr=16000', 'n=1,2']}")), "n=1,2 sr=16000");
  for (const char* wrong :
       {"{model: n.onnx, size: 96}", "{model: n.onnx, weights: w}", "{model: resnet18, size: 0}",
        "{model: n.cfg, shapes: [x]}", "{model: n.onnx, fix: [x]}", "{weights: w}", "{model: ''}"})
    EXPECT_NE(message_of([&] { read(wrong); }), "no error") << wrong;
}

TEST(ModelSource, shapes_survive_the_way_to_text_and_back) {
  ModelSource source, read;
  source.shapes = {{"a b", {1, 2}}, {"c", {3}}};
  add_shapes(read, shapes_text(source), "p");
  EXPECT_EQ(read, source);
}

TEST(ModelSource, fixed_inputs_survive_the_way_to_text_and_back) {
  ModelSource source, read;
  for (const char* text : {"sr=16000.0", "a b=1,2", "a=b=-0.25e1,1e99", "on=true"})
    add_fixed(source, text, "--fix");
  EXPECT_EQ(fixed_text(source), "a b=1,2 a=b=-2.5,1e+99 on=1 sr=16000");
  add_all_fixed(read, fixed_text(source), "p");
  EXPECT_EQ(read, source);
  EXPECT_FALSE(is_read_as_it_is(read));
}

TEST(ModelSource, what_is_no_value_of_an_input_is_refused) {
  ModelSource source;
  add_fixed(source, "sr=1", "--fix");
  for (const std::string text :
       {"sr", "=1", "sr=", "x=1,", "x=,1", "x=a", "x=1 2", "x=inf", "x=1x2"})
    EXPECT_NE(message_of([&] { add_fixed(source, text, "--fix"); }).find("expected NAME=NUMBER"),
              std::string::npos)
        << text;
  EXPECT_NE(message_of([&] { add_fixed(source, "sr=1", "--fix"); }).find("second value"),
            std::string::npos);
}

TEST(ModelSource, files_that_are_there_become_absolute) {
  ModelSource source{.file = "CMakeLists.txt", .weights = "some.weights"};
  EXPECT_EQ(absolute({.file = "resnet18"}).file, "resnet18");
  const ModelSource result = absolute(source);
  EXPECT_TRUE(result.weights.is_absolute());
}

}  // namespace
}  // namespace millrace::formats
