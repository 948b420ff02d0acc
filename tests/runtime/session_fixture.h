#pragma once
// What the tests of sessions begin with.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/reference/reference.h"
#include "plan/build.h"
#include "runtime/decorated_engine.h"
#include "runtime/session.h"
#include "runtime/sketch.h"

namespace millrace::test {

class SessionTest : public testing::Test {
 protected:
  /// Deploys on the reference engine, without pinning.
  runtime::Session start(const network::Network& network,
                         const std::vector<std::size_t>& processors,
                         const std::vector<std::int64_t>& batches = {}) {
    return runtime::deploy(plan_of(network, processors, batches), network, engines_, unpinned);
  }
  plan::Plan plan_of(const network::Network& network, const std::vector<std::size_t>& processors,
                     const std::vector<std::int64_t>& batches = {}) {
    return plan::build(network, imagined_board(6), mapping(processors),
                       {.engine = "engine", .batches = batches});
  }
  /// From now on "engine" is the reference engine with this decoration.
  void decorate(Decoration decoration) {
    decorated_ = std::make_unique<DecoratedEngine>(*reference_, std::move(decoration));
    engines_["engine"] = decorated_.get();
  }

  static inline const runtime::SessionOptions unpinned{
      .pin = false, .spin = std::chrono::microseconds(5), .caller_spin = {}};
  std::unique_ptr<engine::Engine> reference_ = engine::reference::make();
  std::unique_ptr<engine::Engine> decorated_;
  std::map<std::string, engine::Engine*> engines_{{"engine", reference_.get()}};
};

}  // namespace millrace::test
