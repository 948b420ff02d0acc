#pragma once
// One input of an application while it runs.
#include <atomic>
#include <cstdint>
#include <optional>

#include "application/application.h"
#include "application/picture.h"
#include "application/source.h"
#include "runtime/waiting/live_queue.h"
#include "runtime/waiting/pace.h"

namespace millrace::application {

/// How the pictures of a live input wait.
runtime::Lane lane_of(const Input& input);

/// Reads an input at its pace, and counts. One thread at a time calls next(), any calls end(),
/// skipped() and gaps(); the rest is for after the last picture.
class Reading {
 public:
  /// Borrows the source.
  Reading(Input input, Source* source);

  /// The next picture, when it is due; nothing: the end, the input's bound or end().
  std::optional<Picture> next();
  /// Whether the source ended before this did.
  bool may_go_on() const { return !ended_ && (input_.frames == 0 || read_ < input_.frames); }
  /// Another source goes on where the one before has ended. Borrowed. Not of a camera.
  void go_on(Source* source) { source_ = source; }
  void end();

  const Input& input() const { return input_; }
  std::int64_t read() const { return read_; }
  /// By a camera's reader, which numbers them.
  std::int64_t skipped() const { return skipped_; }
  /// None if it is no camera.
  Gaps gaps() const {
    return source_->presence() == nullptr ? Gaps{} : source_->presence()->gaps();
  }
  /// When the last picture was due.
  std::optional<Time> last_due() const { return last_due_; }

 private:
  const Input input_;
  Source* source_;
  runtime::Pace pace_;
  std::atomic<bool> ended_{false};
  std::int64_t read_ = 0;
  std::atomic<std::int64_t> skipped_{0};
  std::optional<Time> last_due_;
};

}  // namespace millrace::application
