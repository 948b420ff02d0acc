#include "application/plugin.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "application/steps.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::application {
namespace {

const std::filesystem::path folder = MILLRACE_TEST_PLUGINS;

std::string message(const std::filesystem::path& path) {
  return test::message_of([&] { Plugins().load(path); });
}

void expect_words(const std::string& text, const std::string& words) {
  EXPECT_NE(text.find(words), std::string::npos) << text;
}

TEST(plugin, offers_its_processings_by_name) {
  Plugins plugins;
  plugins.load(folder / "throwing.so");
  const network::Network network;
  const auto made = plugins.registry().make("throwing", {network, {{"at", "3"}}}, "here");
  EXPECT_NE(made, nullptr);
  expect_words(test::message_of([&] { plugins.registry().make("throwin", {network}, "here"); }),
               "here: found 'throwin', which is neither built in nor of a plug-in; did you mean "
               "'throwing'?");
}

TEST(plugin, of_another_version_is_refused_before_it_is_used) {
  expect_words(message(folder / "other_interface.so"),
               "was built for version 5 of the plug-in interface, expected 4");
}

TEST(plugin, that_is_none_is_refused) {
  expect_words(message(folder / "no_entry.so"), "has no function 'millrace_plugin'");
  expect_words(message(folder / "absent.so"), "is no file");
  const test::TemporaryFolder temporary;
  std::ofstream(temporary / "text.so") << "no library";
  expect_words(message(temporary / "text.so"), "cannot be loaded as a plug-in");
}

/// What comes of a post-processing at the frame at which it throws.
std::string failure(const std::map<std::string, std::string>& parameters) {
  Plugins plugins;
  plugins.load(folder / "throwing.so");
  const network::Network network;
  const auto made = plugins.registry().make("throwing", {network, parameters}, "here");
  Application application;
  application.postprocess.kind = "throwing";
  Travel travel;
  travel.outcome.picture.frame = 3;
  travel.outcome.picture.name = "x.png";
  try {
    examine(application, {nullptr, nullptr, made.get()}, travel);
  } catch (const EngineError& error) {
    return error.what();
  }
  return "no error";
}

TEST(plugin, that_throws_is_named_with_the_frame) {
  const std::string file = (folder / "throwing.so").string();
  EXPECT_EQ(failure({{"at", "3"}}),
            "frame 3 (x.png): throwing failed: " + file + ": after(): had enough");
  EXPECT_EQ(failure({{"at", "3"}, {"odd", ""}}),
            "frame 3 (x.png): throwing failed: " + file +
                ": after() threw something that is no std::exception");
  EXPECT_EQ(failure({{"at", "4"}}), "no error");
}

TEST(plugin, that_cannot_make_its_processing_is_named_with_the_place) {
  EXPECT_THROW(failure({}), InputError);
}

TEST(plugin, cannot_take_a_name_that_is_taken) {
  Plugins plugins;
  plugins.load(folder / "throwing.so");
  expect_words(test::message_of([&] { plugins.load(folder / "throwing.so"); }),
               "there is a processing 'throwing' already");
  expect_words(test::message_of([&] { plugins.load(folder / "throwing.so"); }),
               (folder / "throwing.so").string());
  Registry registry;
  expect_words(test::message_of([&] { registry.add("yolo", {}); }), "'yolo' already");
  expect_words(test::message_of([&] { registry.add("mine", {}); }), "no function that makes it");
}

/// Processing of a picture of 3 x 2 pixels, before a network that takes four numbers and after it.
class WrongPlugin : public testing::Test {
 protected:
  WrongPlugin() {
    plugins_.load(folder / "wrong.so");
    network_.tensors = {{.name = "x", .shape = {1, 4}, .constant = {}}};
    network_.inputs = {TensorId(0)};
    auto pixels = network::Buffer::uninitialized(Bytes{18});
    picture_.image = {3, 2, std::make_shared<const network::Buffer>(std::move(pixels))};
  }

  /// Behind the plug-in's file.
  std::string message(const std::string& how, bool is_before) const {
    const auto made = plugins_.registry().make("wrong", {network_, {{"how", how}}}, "here");
    const std::string file = (folder / "wrong.so").string() + ": ";
    try {
      if (is_before)
        made->before(picture_);
      else
        made->after(picture_, {});
    } catch (const std::runtime_error& error) {
      const std::string text = error.what();
      return text.starts_with(file) ? text.substr(file.size()) : "not of the file: " + text;
    }
    return "no error";
  }
  std::string before(const std::string& how) const { return message(how, true); }
  std::string after(const std::string& how) const { return message(how, false); }

  Plugins plugins_;
  network::Network network_;
  Picture picture_;
};

TEST_F(WrongPlugin, inputs_are_refused_before_the_network_takes_them) {
  EXPECT_EQ(before("right"), "no error");
  EXPECT_EQ(before("none"), "before(): frame: has 0 arrays, expected 1, one for each input of ''");
  EXPECT_EQ(before("two"), "before(): frame: has 2 arrays, expected 1, one for each input of ''");
  for (const char* how : {"empty", "shape", "large", "type", "shapeless"}) {
    expect_words(before(how), "before(): input 'x': found ");
    expect_words(before(how), ", expected float32 1x4");
  }
  expect_words(before("short"), "before(): input 'x': has no memory of 16 B");
}

TEST_F(WrongPlugin, exceptions_name_the_file_and_the_function) {
  EXPECT_EQ(before("throw"), "before(): no picture");
  EXPECT_EQ(before("memory"), "before(): std::bad_alloc");
  EXPECT_EQ(before("odd"), "before() threw something that is no std::exception");
  EXPECT_EQ(after("throw"), "after(): no outputs");
}

TEST_F(WrongPlugin, findings_that_cannot_be_of_the_picture_are_refused) {
  EXPECT_EQ(after("right"), "no error");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"box", "detection 0 has the value nan, expected a number"},
      {"corner", "detection 0 has the value inf, expected a number"},
      {"mask", "detection 0 has 8 values for 3 x 3 pixels, expected one for each"},
      {"far mask", "outside of the picture of 3 x 2; cut it at the border"},
      {"huge mask", "has 0 values for 4294967296 x 4294967296 pixels"},
      {"map", "the class map has 5 values for 3 x 2 pixels"},
      {"other map", "the class map has 2 x 2 pixels, expected 3 x 2, as the picture"},
      {"class", "class 0 has the value nan"},
      {"embedding", "the embedding has the value inf"},
      {"json", "the findings' 'json' is no JSON; expected one value"},
      {"deep json", "'json' has more than 500 levels of lists and objects"},
      {"left out", "'left_out' is -1, expected 0 or more"}};
  for (const auto& [how, words] : cases) {
    EXPECT_TRUE(after(how).starts_with("after(): ")) << after(how);
    expect_words(after(how), words);
  }
}

TEST_F(WrongPlugin, a_processing_that_is_nothing_is_named) {
  EXPECT_EQ(test::message_of([&] { plugins_.registry().make("nothing", {network_}, "here"); }),
            "here: the plug-in made nothing for 'nothing'");
}

}  // namespace
}  // namespace millrace::application
