#pragma once
// Frames of a program, or pictures of an application's own inputs, into a group of a running
// deployment, and its results out.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "application/live/handover.h"
#include "application/live/live_group.h"
#include "application/live/live_inputs.h"
#include "application/picture.h"
#include "base/units.h"
#include "network/network.h"
#include "network/tensor.h"

namespace millrace::application {

/// How frames meet the moments at which a group's frames are due.
enum class FeedPolicy {
  newest,  // of a program: a newer one takes the place of one that waits
  every,   // of a program: they wait in line, up to eight; who puts waits for room
  own,     // the application's inputs, by the policy of each
};

/// A frame or picture that came in.
struct Given {
  std::int64_t number = -1;  // none yet
  std::chrono::steady_clock::time_point arrived{};
  std::vector<network::Array> arrays = {};
  std::optional<Picture> picture = {};
};

/// What came of it, on its way out.
struct Taken {
  std::int64_t input = 0;  // -1: it was not fed, and has values of other groups
  bool repeated = false;  // nothing newer had come
  std::chrono::steady_clock::time_point arrived{};
  LiveResult result = {};
  runtime::EndedFrame frame = {};
  std::optional<Time> bound = {};  // of the response
};

/// Frames without those that the controller counts.
struct FeedCounts {
  std::int64_t submitted = 0, overwritten = 0;  // of a program
  std::int64_t repeated = 0;       // done with an input that had been used before
  std::int64_t without_input = 0;  // done before the first came: no result
  std::int64_t undelivered = 0;    // results that nobody took in time
};

/// One group. put() is for any thread, pop() for one; the rest is for the threads of the group.
class GroupFeed final : public LiveGroup {
 public:
  /// Borrows the network; null: the group has none. `own`: with the policy of that name.
  GroupFeed(const network::Network* network, FeedPolicy policy,
            std::unique_ptr<LiveInputs> own = {})
      : network_(network), policy_(policy), own_(std::move(own)) {}

  /// Opens its own inputs. Frames count from now on: those before were to warm up.
  void begin();
  /// False: it is closed.
  bool put(Given given);
  /// Nothing comes in any more. Rethrows what an own input failed with.
  void close();
  /// After the last frame.
  void finish() { results_.finish(); }
  /// Waits for it. Nothing: that was the last.
  std::optional<Taken> pop() { return results_.pop(); }
  FeedCounts counts() const;
  const network::Network* network() const { return network_; }
  /// Null: it has none.
  const LiveInputs* own() const { return own_.get(); }

  std::optional<Picture> picture() override;
  void fill(std::span<const std::span<std::byte>> inputs) override;
  void filled(bool is_new) override;
  void take(LiveResult result) override;
  void ended(const runtime::EndedFrame& frame) override;

 private:
  const Given& next();
  std::optional<Given> newest();

  const network::Network* network_;
  const FeedPolicy policy_;
  const std::unique_ptr<LiveInputs> own_;
  std::atomic<bool> running_{false}, closed_{false};
  Inbox<Given> inputs_{8};
  Outbox<Taken> results_{1024};
  std::atomic<std::int64_t> submitted_{0}, overwritten_{0}, repeated_{0}, without_{0};
  Given current_;  // touched by the thread that fills

  std::mutex mutex_;               // of the group's threads, which have one priority
  /// Filled, and not ended, in order.
  struct OnTheWay {
    Taken taken;
    bool has_input = false;
  };
  std::deque<OnTheWay> on_the_way_;
  std::size_t results_taken_ = 0;  // of them, from the front
};

}  // namespace millrace::application
