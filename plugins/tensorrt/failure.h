#pragma once
// What goes wrong, until it leaves the plug-in as a text.
#include <stdexcept>

namespace millrace_tensorrt {

/// The SDK, the driver or the machine failed.
struct SdkFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The user gave an option that is wrong.
struct WrongSetting : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace millrace_tensorrt
