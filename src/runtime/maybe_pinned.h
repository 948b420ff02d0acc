#pragma once
// Binds a thread to a processor, or leaves it where it is.
#include <optional>

#include "board/board.h"

namespace millrace::runtime {

/// With `pin`, a board::PinGuard.
class MaybePinned {
 public:
  MaybePinned(const board::Processor& processor, bool pin) {
    if (pin) guard_.emplace(processor);
  }

 private:
  std::optional<board::PinGuard> guard_;
};

}  // namespace millrace::runtime
