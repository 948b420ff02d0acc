#pragma once
// What engines reach on this machine beside its cores.
#include <string>

#include "base/units.h"
#include "board/device.h"

namespace millrace::engine {

/// A GPU or an NPU, with its processors.
struct ReachedDevice {
  board::Device device;
  std::string engine;  // that reaches it
  std::string driver;  // for people: name and version
  Bytes memory = {};   // its own; 0: unknown, or the host's
  Bytes board_memory =
      {};  // of the board behind a link that it is on; 0: unknown, or it is on none
};

}  // namespace millrace::engine
