#pragma once
// What whoever makes an engine may give it.
#include <memory>

#include "base/store.h"

namespace millrace::engine {

struct EngineOptions {
  /// Packed weights of earlier runs, shared by all engines that keep theirs there. None: weights
  /// are packed anew by every engine object.
  std::shared_ptr<Store> packed = {};
};

}  // namespace millrace::engine
