#include <gtest/gtest.h>

#include <fstream>

#include "api.h"
#include "base/error.h"
#include "engine/plugin/plugin.h"
#include "support/temporary_folder.h"

namespace millrace::test {
namespace {

using engine::EngineOptions;

EngineOptions with_library(const std::filesystem::path& path) {
  EngineOptions options;
  options.libraries["onnxruntime"] = path;
  return options;
}

/// Why the engine cannot start with this library.
std::string reason_for(const std::filesystem::path& path) {
  return engine::plugin::can_start("onnxruntime", with_library(path)).reason();
}

void expect_says(const std::string& reason, const std::string& words) {
  EXPECT_NE(reason.find(words), std::string::npos) << reason;
}

TEST(OrtLibrary, a_file_that_is_not_there_is_named) {
  expect_says(reason_for("/no/such/libonnxruntime.so"),
              "/no/such/libonnxruntime.so cannot be used as ONNX Runtime: it does not exist");
}

TEST(OrtLibrary, a_folder_is_no_library) {
  const TemporaryFolder folder;
  expect_says(reason_for(folder.path()), "it is a folder, expected the library");
}

TEST(OrtLibrary, a_text_file_is_no_library) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "libonnxruntime.so";
  std::ofstream(path)
      << "not a library, but long enough to hold the header of one, which has 64 bytes";
  expect_says(reason_for(path), "it is no shared library");
}

TEST(OrtLibrary, one_for_another_processor_is_told_apart) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "libonnxruntime.so";
  std::filesystem::copy_file(MILLRACE_TEST_NO_ENTRY, path);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(18);             // e_machine
  file.write("\x08\x00", 2);  // MIPS
  file.close();
  expect_says(reason_for(path), "it is built for another kind of processor");
}

TEST(OrtLibrary, one_without_the_entry_is_no_onnxruntime) {
  expect_says(reason_for(MILLRACE_TEST_NO_ENTRY), "it has no function OrtGetApiBase");
}

TEST(OrtLibrary, an_older_version_and_the_next_major_are_refused) {
  expect_says(reason_for(MILLRACE_TEST_OLD_VERSION),
              "it is version 1.16.3, but 1.17 or a later 1.x is needed");
  expect_says(reason_for(MILLRACE_TEST_NEXT_MAJOR), "it is version 2.0.0, but 1.17");
}

TEST(OrtLibrary, one_that_gives_no_functions_is_refused) {
  expect_says(reason_for(MILLRACE_TEST_NO_FUNCTIONS), "its version 1.40.0 gives no functions");
}

TEST(OrtLibrary, each_refusal_says_how_to_install_one) {
  expect_says(reason_for(MILLRACE_TEST_NO_ENTRY), "pip install onnxruntime");
  EXPECT_THROW(engine::plugin::make("onnxruntime", with_library(MILLRACE_TEST_NO_ENTRY)),
               EngineError);
}

TEST(OrtLibrary, says_its_version) {
  const Verdict start = engine::plugin::can_start("onnxruntime", {});
  if (!start) GTEST_SKIP() << start.reason();
  EXPECT_TRUE(engine::plugin::make("onnxruntime", {})->version().starts_with("1."));
}

TEST(OrtApi, a_failure_is_told_without_places_in_the_source) {
  using millrace_onnxruntime::without_sources;
  EXPECT_EQ(without_sources("/a/b.cc:136 void f()::<lambda()> x == y was false. No adapter\n"),
            "No adapter");
  EXPECT_EQ(without_sources("/a/b.cc:3 int g() [ONNXRuntimeError] : 11 : EP_FAIL : No GPU"),
            "11 : EP_FAIL : No GPU");
  EXPECT_EQ(without_sources("Unknown provider name"), "Unknown provider name");
}

}  // namespace
}  // namespace millrace::test
