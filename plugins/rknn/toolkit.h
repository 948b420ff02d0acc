#pragma once
// Rockchip's rknn-toolkit2, a package of Python, which converts networks.
#include <string>

namespace millrace_rknn {

struct Toolkit {
  std::string version;  // "2.5.0"; empty: it is not there
  std::string reason;   // why not
};

/// Asks that python3 for the version of its package.
Toolkit find_toolkit(const std::string& python);

/// "2.5.0" of "2.5.0 (c49f7a3b@2026-10-09)": what toolkit and runtime have in common.
std::string release_of(const std::string& version);

/// The major number: 2 for "2.5.0"; 0 for what is no version.
int major_of(const std::string& version);

}  // namespace millrace_rknn
