#include "product/written_over.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::product {
namespace {

class WrittenOver : public testing::Test {
 protected:
  WrittenOver() {
    write_file(model_, "model");
    files_.add(formats::ModelSource{.file = model_});
  }

  std::string message(const std::filesystem::path& output) {
    return test::message_of([&] { files_.refuse(output); });
  }

  const test::TemporaryFolder folder_;
  const std::string model_ = (folder_ / "a.cfg").string();
  FilesRead files_;
};

TEST_F(WrittenOver, what_is_read_is_refused_by_any_name) {
  std::filesystem::create_symlink(model_, folder_ / "link");
  EXPECT_NE(message(model_).find("is the model too"), std::string::npos);
  EXPECT_NE(message(folder_ / "." / "a.cfg").find("is the model too"), std::string::npos);
  EXPECT_NE(message(folder_ / "link").find("is the model too"), std::string::npos);
}

TEST_F(WrittenOver, weights_beside_a_configuration_are_read) {
  write_file(folder_ / "b.cfg", "");
  write_file(folder_ / "b.weights", "");
  files_.add(formats::ModelSource{.file = folder_ / "b.cfg"});
  EXPECT_NE(message(folder_ / "b.weights").find("is the file of the weights too"),
            std::string::npos);
}

TEST_F(WrittenOver, endings_of_models_may_be_in_capital_letters) {
  write_file(folder_ / "B.CFG", "");
  write_file(folder_ / "B.weights", "");
  files_.add(formats::ModelSource{.file = folder_ / "B.CFG"});
  EXPECT_NE(message(folder_ / "B.weights").find("is the file of the weights too"),
            std::string::npos);
  const std::string entry = "\x12\x05" "c.bin" "\x0a\x08" "location";
  write_file(folder_ / "C.ONNX", "\x08\x08\x3a\x17\x2a\x15\x6a\x11" + entry + "\x70\x01");
  write_file(folder_ / "c.bin", "");
  files_.add(formats::ModelSource{.file = folder_ / "C.ONNX"});
  EXPECT_NE(message(folder_ / "c.bin").find("external data too"), std::string::npos);
}

TEST_F(WrittenOver, libraries_of_engines_are_read) {
  write_file(folder_ / "lib.so", "");
  Context context;
  context.libraries["onnxruntime"] = folder_ / "lib.so";
  files_.add(context);
  EXPECT_NE(message(folder_ / "lib.so").find("is the library of an engine too"), std::string::npos);
}

TEST_F(WrittenOver, a_link_and_what_it_names_are_one_place) {
  std::filesystem::create_symlink("new", folder_ / "link");
  EXPECT_EQ(message(folder_ / "link"), "no error");
  EXPECT_NE(message(folder_ / "new").find("would be written twice"), std::string::npos);
}

TEST_F(WrittenOver, two_results_cannot_have_one_place) {
  EXPECT_EQ(message(folder_ / "new"), "no error");
  EXPECT_NE(message(folder_ / "new").find("would be written twice"), std::string::npos);
}

TEST_F(WrittenOver, other_places_are_free) { EXPECT_EQ(message(folder_ / "other"), "no error"); }

}  // namespace
}  // namespace millrace::product
