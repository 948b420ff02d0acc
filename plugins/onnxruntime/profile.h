#pragma once
// The times of nodes in the file that the library writes when it profiles a session.
#include <filesystem>
#include <string>
#include <vector>

namespace millrace_onnxruntime {

struct NodeTime {
  std::string name, kernel;
  double time = 0;  // the median of its runs, in microseconds
};

/// In the order in which they first ran. LibraryFailure if the file cannot be read.
std::vector<NodeTime> read_profile(const std::filesystem::path& file);

}  // namespace millrace_onnxruntime
