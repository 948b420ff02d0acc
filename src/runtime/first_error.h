#pragma once
// The first of the errors that several threads may report.
#include <mutex>
#include <optional>
#include <string>

#include "base/error.h"

namespace millrace::runtime {

/// Any thread may call anything.
class FirstError {
 public:
  void set(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (!text_) text_ = text;
  }
  /// EngineError with the first text, if there is one.
  void rethrow() const {
    const std::lock_guard lock(mutex_);
    if (text_) throw EngineError(*text_);
  }

 private:
  mutable std::mutex mutex_;
  std::optional<std::string> text_;
};

}  // namespace millrace::runtime
