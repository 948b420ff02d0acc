#include "base/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"
#include "product/calibrate.h"
#include "product/heard.h"
#include "product/planning/make_plan.h"
#include "product/run.h"
#include "product/verify.h"
#include "support/temporary_folder.h"

namespace millrace::product {
namespace {

volatile std::sig_atomic_t own_handler_called = 0;
void own_handler(int) { own_handler_called = 1; }

/// A service whose SIGTERM comes while work shows its progress. Its own handler hears it, and then
/// it asks the work to end.
class Service : public Listener {
 public:
  Service() { std::signal(SIGTERM, own_handler); }
  ~Service() override { std::signal(SIGTERM, SIG_DFL); }
  std::unique_ptr<Work> begin(const std::string& title) override {
    if (!during.empty() && title != during) return std::make_unique<Work>();
    return std::make_unique<Watched>(interrupt);
  }

  InterruptSwitch interrupt;
  std::string during;  // only while this is done; empty: at once

 private:
  class Watched : public Work {
   public:
    explicit Watched(InterruptSwitch& asked) : asked_(asked) {}
    void show(double, const std::string&) override {
      std::raise(SIGTERM);
      asked_.ask();
    }

   private:
    InterruptSwitch& asked_;
  };
};

class Interrupted : public testing::Test {
 protected:
  Interrupted() {
    setup_.source.file = test::digits;
    setup_.context.cache = false;
    setup_.context.listener = &service_;
    setup_.context.interrupt = &service_.interrupt;
    own_handler_called = 0;
  }

  /// Work without an end of its own.
  void expect_end(const std::function<void()>& work) {
    try {
      work();
      ADD_FAILURE() << "was not interrupted";
    } catch (const EngineError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("interrupted")) << error.what();
    }
    EXPECT_EQ(own_handler_called, 1);
    struct sigaction now {};
    sigaction(SIGTERM, nullptr, &now);
    EXPECT_EQ(now.sa_handler, own_handler);
  }

  const test::TemporaryFolder folder_;
  Service service_;
  product::Setup setup_;
};

TEST_F(Interrupted, verify_looks_at_it_in_each_layer_of_the_reference) {
  struct Counting final : Interrupt {
    bool take() override { return ++asked == 12; }
    int asked = 0;
  } counting;
  setup_.context.interrupt = &counting;
  VerifyRequest request;
  request.runnable.model = setup_;
  request.frames.random = 1;
  EXPECT_THROW(verify(request), EngineError);
  EXPECT_EQ(counting.asked, 12);
}

constexpr std::int64_t without_end = 2'000'000'000;

TEST_F(Interrupted, run_keeps_its_lines) {
  RunRequest request;
  request.runnable.model = setup_;
  request.frames.random = without_end;
  request.output = (folder_ / "lines").string();
  service_.during = "running";
  expect_end([&] { run(request); });
  EXPECT_TRUE(std::filesystem::exists(folder_ / "lines"));
}

TEST_F(Interrupted, plan_by_configurations) {
  PlanRequest request;
  request.setup = setup_;
  request.measure_s = 0;
  request.search.method = "cut-points";
  expect_end([&] { make_plan(request); });
}

TEST_F(Interrupted, calibrate) {
  CalibrateRequest request;
  request.setup = setup_;
  request.frames.random = 1000;
  request.output = (folder_ / "table.json").string();
  expect_end([&] { calibrate(request); });
  EXPECT_FALSE(std::filesystem::exists(folder_ / "table.json"));
}

}  // namespace
}  // namespace millrace::product
