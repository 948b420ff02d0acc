#pragma once
// An application at work, which another may replace while its pictures go on.
#include <cstdint>
#include <latch>
#include <memory>
#include <optional>

#include "application/live/observer.h"
#include "application/loaded/crops_at_work.h"
#include "application/loaded/loaded.h"
#include "application/run.h"
#include "runtime/session.h"

namespace millrace::application {

/// An application on the pictures of an intake, from begin() on.
class Running {
 public:
  Running(const LoadedApplication& loaded, std::int64_t traced_frames)
      : loaded_(loaded),
        crops_(deploy_crops(loaded)),
        session_(deploy(
            *loaded.loaded, loaded.loaded->plan, loaded.application.file,
            options_with_crops(loaded, loaded.loaded->plan, {.trace_frames = traced_frames}))) {}

  /// Frames come out from go_on() on.
  void begin(Parts parts, const Give& give) {
    parts.crops = crops_ ? &crops_->parts : nullptr;
    run_.emplace(loaded_.application, parts, session_, [this, give](const Outcome& outcome) {
      begun_.wait();
      give(outcome);
    });
  }
  void go_on() { begun_.count_down(); }
  AtWork at_work() const { return {loaded_.application, *run_, session_}; }
  const LoadedApplication& loaded() const { return loaded_; }
  runtime::Session& session() { return session_; }
  Run& run() { return *run_; }

 private:
  const LoadedApplication& loaded_;
  std::unique_ptr<CropsAtWork> crops_;
  runtime::Session session_;
  std::latch begun_{1};
  std::optional<Run> run_;
};

/// For a run of `next` in place of `now`: the inputs of both are the same, and what is written.
/// InputError if not.
void check_that_the_rest_stays(const LoadedApplication& now, const LoadedApplication& next);

}  // namespace millrace::application
