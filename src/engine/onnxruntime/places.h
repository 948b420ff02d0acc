#pragma once
// Where ONNX Runtime and its plug-ins may lie.
#include <filesystem>
#include <string>
#include <vector>

namespace millrace::engine::onnxruntime {

/// Folders with Python's packages: those of tools/fetch_engines.py beside the build, of
/// VIRTUAL_ENV, of the python3 on the PATH, of the user, and of the system.
std::vector<std::filesystem::path> package_folders();

/// The library's files and its name for the system's loader, in the order in which they are tried.
std::vector<std::filesystem::path> usual_libraries();

}  // namespace millrace::engine::onnxruntime
