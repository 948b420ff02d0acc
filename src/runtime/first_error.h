#pragma once
// The first of the errors that several threads may report.
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"

namespace millrace::runtime {

struct Failure {
  std::string text;
  bool of_the_input = false;   // an InputError, else a StageError
  std::string processor = {};  // of the stage
};

/// A stage failed, through no fault of the input.
class StageError : public EngineError {
 public:
  StageError(const std::string& text, std::string processor)
      : EngineError(text), processor_(std::move(processor)) {}
  /// Its processor: "second.core0", or a copy engine, "second.in".
  const std::string& processor() const { return processor_; }

 private:
  std::string processor_;
};

/// Any thread may call anything.
class FirstError {
 public:
  void set(const Failure& failure) {
    const std::lock_guard lock(mutex_);
    if (!first_) first_ = failure;
  }
  /// Throws the first one, if there is one.
  void rethrow() const {
    const std::lock_guard lock(mutex_);
    if (!first_) return;
    if (first_->of_the_input) throw InputError("", first_->text);
    throw StageError(first_->text, first_->processor);
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Failure> first_;
};

}  // namespace millrace::runtime
