#include "application/plugin.h"

#include <gtest/gtest.h>

#include <fstream>

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
  EXPECT_EQ(failure({{"at", "3"}}), "frame 3 (x.png): throwing failed: had enough");
  EXPECT_EQ(failure({{"at", "3"}, {"odd", ""}}),
            "frame 3 (x.png): throwing failed and threw something that is no std::exception");
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
  Registry registry;
  expect_words(test::message_of([&] { registry.add("yolo", {}); }), "'yolo' already");
}

}  // namespace
}  // namespace millrace::application
