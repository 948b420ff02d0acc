#pragma once
// Frames of a program into a group of a running deployment, and its results out.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "application/live/handover.h"
#include "application/live/live_group.h"
#include "application/picture.h"
#include "base/units.h"
#include "millrace/deployment.h"
#include "network/network.h"
#include "network/tensor.h"

namespace millrace::face {

/// A frame or picture that was submitted.
struct Given {
  std::int64_t number = -1;  // none yet
  std::chrono::steady_clock::time_point arrived{};
  std::vector<network::Array> arrays = {};
  std::optional<application::Picture> picture = {};
};

/// What came of it, on its way to the callback.
struct Taken {
  std::int64_t input = 0;
  bool repeated = false;
  std::chrono::steady_clock::time_point arrived{};
  application::LiveResult result = {};
  runtime::EndedFrame frame = {};
};

/// One group. put() is for any thread, pop() for one; the rest is for the threads of the group.
class GroupFeed final : public application::LiveGroup {
 public:
  /// Borrows the network; null: the group has none.
  GroupFeed(const network::Network* network, InputPolicy policy)
      : network_(network), policy_(policy) {}

  /// Frames count from now on: those before were to warm up.
  void begin() { running_ = true; }
  /// False: it is closed.
  bool put(Given given);
  void close();
  /// After the last frame.
  void finish() { results_.finish(); }
  /// Waits for it. Nothing: that was the last.
  std::optional<Taken> pop() { return results_.pop(); }
  /// Without the figures of the controller.
  GroupReport counts() const;
  const network::Network* network() const { return network_; }

  std::optional<application::Picture> picture() override;
  void fill(std::span<const std::span<std::byte>> inputs) override;
  void take(application::LiveResult result) override;
  void ended(const runtime::EndedFrame& frame) override;

 private:
  const Given& next();

  const network::Network* network_;
  const InputPolicy policy_;
  std::atomic<bool> running_{false}, closed_{false};
  application::Inbox<Given> inputs_{8};
  application::Outbox<Taken> results_{1024};
  std::atomic<std::int64_t> submitted_{0}, overwritten_{0}, repeated_{0}, without_{0};
  Given current_;  // touched by the thread that fills

  std::mutex mutex_;               // of the group's threads, which have one priority
  std::deque<Taken> on_the_way_;   // filled, and not ended, in order
  std::size_t results_taken_ = 0;  // of them, from the front
};

}  // namespace millrace::face
