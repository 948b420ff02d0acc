#pragma once
// The way of an application's pictures until a run takes them. It outlives the run that is replaced
// when the application is read anew.
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "application/application.h"
#include "application/picture.h"
#include "application/source.h"
#include "application/sources/reading.h"
#include "runtime/pool.h"
#include "runtime/waiting/live_queue.h"

namespace millrace::application {

/// What the readings of one input have counted.
struct Counted {
  runtime::QueueCounts queue;  // with what a camera's reader passed over
  Gaps gaps;
  std::optional<Time> last_due;  // after wait_for() has said that all have ended
};

/// Live inputs are read by a thread each, from begin() on.
class Intake {
 public:
  /// Borrows the source. Only the application's inputs are read here.
  Intake(const Application& application, Source* source);
  ~Intake();

  void begin();
  /// The next picture; one thread at a time. Nothing: the end, end(), or hold().
  std::optional<Picture> take();
  /// take() gives nothing, and what comes waits, until go_on().
  void hold() { queue_.hold(); }
  void go_on() { queue_.go_on(); }
  /// No more pictures are read; those that wait still arrive.
  void end();
  /// The same at once: where the newest picture is wanted, those that wait are dropped and counted.
  void end_now();
  /// What waits is dropped.
  void close();
  /// Whether the readers' threads have ended; waits so long for each at most.
  bool wait_for(std::chrono::milliseconds time);

  bool is_live() const { return is_live_; }
  /// By input. An input alone, and those that are no live ones, are counted as one. Any thread.
  std::vector<Counted> counted() const;

 private:
  std::optional<runtime::Job> read(std::size_t lane);

  const bool is_live_;
  runtime::LiveQueue<Picture> queue_;
  std::vector<std::unique_ptr<Reading>> readings_;
  std::vector<std::unique_ptr<runtime::Pool>> readers_;  // gone before the rest
};

}  // namespace millrace::application
