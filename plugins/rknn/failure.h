#pragma once
// What goes wrong, until it leaves the plug-in as a text.
#include <stdexcept>
#include <string>

namespace millrace_rknn {

/// The toolkit, the runtime or the machine failed.
struct SdkFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The user gave an option that is wrong.
struct WrongSetting : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace millrace_rknn
