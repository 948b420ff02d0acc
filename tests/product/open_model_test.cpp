#include "product/open_model.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "product/heard.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::product {
namespace {

using test::digits;
using test::message_of;

TEST(OpenModel, files_and_zoo_names_are_models) {
  EXPECT_EQ(open_model({.file = digits}).name, "digits");
  EXPECT_EQ(open_model({.file = "squeezenet1_1"}).name, "squeezenet1_1");
}

TEST(OpenModel, the_seed_is_that_of_the_weights) {
  const auto hash = [](std::uint64_t seed) {
    return network::hash_of(open_model({.file = "squeezenet1_1", .seed = seed}));
  };
  EXPECT_EQ(hash(1), hash(1));
  EXPECT_NE(hash(1), hash(2));
}

TEST(OpenModel, random_weights_are_said) {
  const test::TemporaryFolder folder;
  const std::string file = (folder / "a.cfg").string();
  write_file(file, "[net]\nwidth=4\nheight=4\nchannels=1\n[convolutional]\nfilters=1\nsize=1\n");
  test::Heard heard;
  open_model({.file = file, .seed = 3}, {{.listener = &heard}});
  EXPECT_TRUE(heard.has_note("file in its folder, so its weights are random, seed 3"));
}

std::string answer_to(const formats::ModelSource& source) {
  test::Heard heard;
  return message_of([&] { check_weights(open_model(source), source, {.listener = &heard}); });
}

TEST(OpenModel, random_weights_answer_on_real_input_only_where_they_are_asked_for) {
  EXPECT_NE(answer_to({.file = "squeezenet1_1"}).find("squeezenet1_1: has random weights, which"),
            std::string::npos);
  const formats::ModelSource asked{.file = "squeezenet1_1", .weights = "random"};
  test::Heard heard;
  check_weights(open_model(asked), asked, {.listener = &heard});
  EXPECT_TRUE(heard.has_note("squeezenet1_1 has random weights, so its answers mean nothing"));
  EXPECT_EQ(answer_to({.file = digits}), "no error");
  EXPECT_NE(message_of([] {
              open_model({.file = digits, .weights = "random"});
            }).find("has weights of its own"),
            std::string::npos);
}

TEST(OpenModel, what_contradicts_itself_is_refused) {
  EXPECT_NE(message_of([] {
              open_model({.file = "squeezenet1_1", .weights = "w"});
            }).find("⟨weights⟩: squeezenet1_1 is a zoo network"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              open_model({.file = "squeezenet1_1", .shapes = {{"data", {1}}}, .size = 28});
            }).find("⟨size⟩: sets the same shape as ⟨shape⟩"),
            std::string::npos);
  EXPECT_NE(message_of([] { open_model({}); }).find("'': is neither a file nor the name"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::product
