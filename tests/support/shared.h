#pragma once
// Material that nobody here wrote: networks, graphs and task sets with known answers. A test that
// needs it is skipped, with the reason, where it is absent.
#include <gtest/gtest.h>

#include <filesystem>

namespace millrace::test {

/// The folder beside the project, or nothing there.
inline std::filesystem::path shared_folder() {
  return std::filesystem::path(MILLRACE_SOURCE_DIR).parent_path() / "shared";
}

}  // namespace millrace::test

/// Skips the running test unless shared/`relative` is there.
#define MILLRACE_NEEDS_SHARED(relative)                                              \
  if (!std::filesystem::exists(millrace::test::shared_folder() / (relative)))        \
  GTEST_SKIP() << "needs " << (millrace::test::shared_folder() / (relative)).string() \
               << ", which is not here"
