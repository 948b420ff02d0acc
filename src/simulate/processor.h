#pragma once
// Who has a processor, and who waits for it.
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "simulate/simulate.h"

namespace millrace::simulate {

/// A stage's work on a processor. It runs in pieces: one for each kernel, or as others interrupt
/// it.
struct Job {
  std::size_t stage = 0;  // of all applications
  int priority = 0;
  Time left{};
  std::int64_t kernels = 1;  // left
};

/// What a job did in one piece.
struct Piece {
  std::size_t stage = 0;
  Time begin{}, end{};
  bool is_last = false;  // the job is done
};

class Processor {
 public:
  Processor(std::string name, const ProcessorOptions& options)
      : name_(std::move(name)), options_(options) {}

  void request(const Job& job) { waiting_.push_back(job); }
  /// Lets begin what may begin; what had to make place for it.
  std::optional<Piece> dispatch(Time now);
  /// When the piece that runs ends; never: Time::max().
  Time until() const { return until_; }
  /// Precondition: now is until().
  Piece end_piece(Time now);

  /// Begins to count, anew.
  void count_from(Time now);
  ProcessorResult result(Time now) const;
  const std::string& name() const { return name_; }
  const ProcessorOptions& options() const { return options_; }
  void add_state(std::vector<std::int64_t>& state, Time now) const;

 private:
  void begin_piece(Time now);
  Piece stop(Time now);

  std::string name_;
  ProcessorOptions options_;
  std::deque<Job> waiting_;  // in the order in which they came
  std::optional<Job> running_;
  Time since_{}, until_ = Time::max();
  Time counted_from_{}, busy_{};
};

}  // namespace millrace::simulate
