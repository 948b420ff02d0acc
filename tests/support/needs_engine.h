#pragma once
// Engines that a build may lack. A test that needs one is skipped, with the reason, where it is
// absent.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/registry.h"

namespace millrace::test {

inline bool has_engine(std::string_view name) {
  const auto names = engine::engine_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace millrace::test

/// Skips the running test unless this build has the engine.
#define MILLRACE_NEEDS_ENGINE(name)      \
  if (!millrace::test::has_engine(name)) \
  GTEST_SKIP() << "needs the engine " << (name) << ", which this build lacks"
