#pragma once
// One group of a running deployment from its inputs to its results: files, a function, or both.
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "application/live/group_feed.h"
#include "application/loaded/loaded.h"
#include "application/loaded/results.h"
#include "runtime/pool.h"

namespace millrace::application {

class Observer;

/// How a group gets its frames, and who gets its results.
struct DeliveryOptions {
  std::string group;
  FeedPolicy policy = FeedPolicy::own;
  Output output = {};            // of an application
  bool writes = false;           // to `output`; results of frames that are repeated are not written
  Observer* observer = nullptr;  // hears of the same results, written or not; null: nobody
  std::function<void(Taken)> take = {};               // on a thread of its own; none: nobody
  std::function<void(const std::string&)> note = {};  // of any thread
};

/// What came of it.
struct DeliveryTotals {
  std::string group;
  bool has_application = false;
  FeedCounts counts = {};
  std::vector<InputTotals> inputs = {};  // of the application's own, if they were read
  std::string kept = {};                 // such as "5 lines in out.jsonl"; empty: nothing
};

/// What is due gets a result; where it goes, nothing is lost uncounted. One thread uses it.
class Delivery {
 public:
  /// Borrows; `application`: null: a model alone.
  Delivery(const LoadedApplication* application, const network::Network* network,
           DeliveryOptions options);
  ~Delivery();
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  const std::shared_ptr<GroupFeed>& feed() const { return feed_; }
  const DeliveryOptions& options() const { return options_; }
  /// Null: the group has none.
  const Application* application() const { return has_application_ ? &settings_ : nullptr; }
  /// Sets the bounds of its response times, by runtime::EndedFrame::operation. Any thread.
  void set_bounds(std::vector<std::optional<Time>> bounds);
  /// Opens inputs and outputs; from now on results are delivered. InputError or EngineError.
  void begin();
  /// No more frames come in. What it borrows may go when the group's threads have ended.
  void close();
  /// After the last frame: all results are out, and files have their names. Once; rethrows the
  /// first error of an input, an output or `take`.
  DeliveryTotals finish();

 private:
  std::optional<runtime::Job> next();
  void deliver(Taken taken);
  void show(const Taken& taken);

  const DeliveryOptions options_;
  const bool has_application_;
  Application settings_ = {};        // with what it writes
  std::shared_ptr<GroupFeed> feed_;  // shared with the group's threads
  std::optional<ApplicationResults> results_;
  std::mutex mutex_;  // of the bounds
  std::vector<std::optional<Time>> bounds_;
  std::vector<std::int64_t> used_;  // pictures by own input
  std::exception_ptr error_ = {};   // of an input
  std::unique_ptr<runtime::Pool> delivering_;
};

}  // namespace millrace::application
