#pragma once
// The first of the errors that several threads may report.
#include <mutex>
#include <optional>
#include <string>

#include "base/error.h"

namespace millrace::runtime {

struct Failure {
  std::string text;
  bool of_the_input = false;  // an InputError, else an EngineError
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
    throw EngineError(first_->text);
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Failure> first_;
};

}  // namespace millrace::runtime
