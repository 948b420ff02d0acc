#pragma once
// A group's application while a deployment runs: its own input, and its results where it says.
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "application/live/handover.h"
#include "application/live/live_group.h"
#include "application/sink.h"
#include "product/application/load.h"
#include "product/application/results.h"
#include "product/context.h"
#include "runtime/pool.h"

namespace millrace::product {

/// Reads the input again and again, with a thread of its own, and writes what the application names
/// with another. A picture that is not there in time is the one before, and is counted.
class ApplicationFeed final : public application::LiveGroup {
 public:
  /// Borrows both. InputError or EngineError as open_source() and ApplicationResults do.
  ApplicationFeed(const LoadedApplication& loaded, const Context& context);
  ~ApplicationFeed() override;

  /// Frames count from now on: those before were to warm up.
  void begin() { running_ = true; }
  /// After the last frame: all results are out. Throws what the input or an output failed with;
  /// notes what was kept and what came late.
  void finish(const std::string& group);

  std::optional<application::Picture> picture() override;
  void take(application::LiveResult result) override;
  void ended(const runtime::EndedFrame& frame) override;

 private:
  std::optional<runtime::Job> read();
  std::optional<runtime::Job> write();

  const LoadedApplication& loaded_;
  const Context& context_;
  std::unique_ptr<application::Source> source_;  // touched by the reading thread
  ApplicationResults results_;
  application::Inbox<application::Picture> pictures_{8};
  application::Outbox<application::Outcome> outcomes_{1024};
  std::atomic<bool> running_{false};
  std::optional<application::Picture> last_;  // touched by the thread of the step before
  std::atomic<std::int64_t> repeated_{0};
  std::mutex mutex_;  // of the group's threads, which have one priority
  std::deque<application::Outcome> on_the_way_;
  std::unique_ptr<runtime::Pool> reading_, writing_;
};

}  // namespace millrace::product
