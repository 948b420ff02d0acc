#include "engine/plugin/places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "engine/registry.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "libmillrace_engine_example.so";

/// The user's folder is this one.
class Places : public testing::Test {
 protected:
  void SetUp() override { ::setenv("MILLRACE_ENGINES", folder_.path().c_str(), 1); }
  void TearDown() override {
    ::unsetenv("MILLRACE_ENGINES");
    ::unsetenv("MILLRACE_EXAMPLE");
  }
  TemporaryFolder folder_;
};

TEST_F(Places, a_plug_in_in_the_users_folder_has_its_files_name) {
  fs::copy_file(MILLRACE_EXAMPLE_ENGINE, folder_.path() / file_name);
  EXPECT_EQ(engine::plugin::file_of("example", {}), folder_.path() / file_name);
  const auto names = engine::plugin_names();
  EXPECT_NE(std::ranges::find(names, "example"), names.end());
  EXPECT_TRUE(engine::can_start("example"));
}

TEST_F(Places, nothing_is_taken_from_the_current_folder) {
  const fs::path before = fs::current_path();
  TemporaryFolder here;
  fs::copy_file(MILLRACE_EXAMPLE_ENGINE, here.path() / file_name);
  fs::current_path(here.path());
  ::setenv("MILLRACE_ENGINES", ".", 1);
  EXPECT_EQ(engine::plugin::file_of("example", {}), std::nullopt);
  fs::current_path(before);
}

TEST_F(Places, a_given_file_and_the_environment_go_before_the_folders) {
  fs::copy_file(MILLRACE_EXAMPLE_ENGINE, folder_.path() / file_name);
  ::setenv("MILLRACE_EXAMPLE", "/elsewhere.so", 1);
  EXPECT_EQ(engine::plugin::file_of("example", {}), "/elsewhere.so");
  EXPECT_EQ(engine::plugin::file_of("example", {.libraries = {{"example", "/given.so"}}}),
            "/given.so");
}

TEST_F(Places, two_plug_ins_of_one_name_are_an_error) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const fs::path package = program.parent_path().parent_path() / "lib" / "millrace" / "engines";
  const bool was_there = fs::exists(package);
  fs::create_directories(package);
  fs::copy_file(MILLRACE_EXAMPLE_ENGINE, folder_.path() / file_name);
  fs::copy_file(MILLRACE_EXAMPLE_ENGINE, package / file_name);
  EXPECT_NE(message_of<InputError>([] { engine::plugin::file_of("example", {}); })
                .find("two plug-ins have this name"),
            std::string::npos);
  fs::remove(package / file_name);
  if (!was_there) fs::remove(package);
}

TEST_F(Places, an_unknown_name_is_refused_with_the_nearest) {
  fs::copy_file(MILLRACE_EXAMPLE_ENGINE, folder_.path() / file_name);
  EXPECT_NE(message_of<InputError>([] { engine::make_engine("exampel"); })
                .find("did you mean example?"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::test
