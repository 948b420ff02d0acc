#include "engine/package_folders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include "support/temporary_folder.h"

namespace millrace::engine {
namespace {

/// Sets variables and the folder in which the program runs, and puts them back.
class Surroundings {
 public:
  Surroundings(const std::filesystem::path& folder,
               const std::map<std::string, std::string>& variables)
      : folder_(std::filesystem::current_path()) {
    for (const auto& [name, value] : variables) {
      const char* const before = std::getenv(name.c_str());
      before_[name] = before == nullptr ? "" : before;
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    std::filesystem::current_path(folder);
  }
  ~Surroundings() {
    std::filesystem::current_path(folder_);
    for (const auto& [name, value] : before_)
      value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
  }
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::string> before_;
};

/// FOLDER/bin/python3 and the folder of its packages.
std::filesystem::path with_python(const test::TemporaryFolder& folder) {
  std::filesystem::create_directories(folder / "bin");
  std::filesystem::create_directories(folder / "lib" / "python3.11" / "site-packages");
  std::ofstream(folder / "bin" / "python3") << "#!/bin/sh\n";
  return folder / "lib" / "python3.11" / "site-packages";
}

bool are_searched(const std::filesystem::path& packages) {
  const std::vector<std::filesystem::path> folders = package_folders();
  return std::ranges::find(folders, packages) != folders.end();
}

TEST(PackageFolders, are_the_packages_of_the_python_on_the_path) {
  const test::TemporaryFolder folder;
  const std::filesystem::path packages = with_python(folder);
  EXPECT_FALSE(are_searched(packages));
  const Surroundings here("/", {{"PATH", (folder / "bin").string()}});
  EXPECT_TRUE(are_searched(packages));
}

// What lies in the folder in which a program happens to run may be anybody's.
TEST(PackageFolders, never_depend_on_the_folder_in_which_the_program_runs) {
  const test::TemporaryFolder folder;
  const std::filesystem::path packages = with_python(folder);
  const Surroundings here(folder / "bin",
                          {{"PATH", ":.:../bin"}, {"VIRTUAL_ENV", ".."}, {"HOME", "."}});
  EXPECT_FALSE(are_searched(packages));
  for (const std::filesystem::path& each : package_folders())
    EXPECT_TRUE(each.is_absolute()) << each;
}

}  // namespace
}  // namespace millrace::engine
