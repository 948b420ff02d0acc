#pragma once
// Where ONNX Runtime and its plug-ins may lie.
#include <filesystem>
#include <vector>

namespace millrace::engine::onnxruntime {

/// The library's files and its name for the system's loader, in the order in which they are tried.
std::vector<std::filesystem::path> usual_libraries();

}  // namespace millrace::engine::onnxruntime
