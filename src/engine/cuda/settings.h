#pragma once
// What a user may set: EngineOptions.settings["cuda"]. docs/installing.md lists the names.
#include <filesystem>
#include <string>
#include <vector>

#include "engine/options.h"

namespace millrace::engine::cuda {

struct Settings {
  bool cudnn = true;   // convolutions by cuDNN where it is there
  bool cublas = true;  // products by cuBLASLt where it is there
  bool spins = false;  // the thread that waits for the GPU; else it sleeps
};

/// InputError with the known words for a key or a value that there is not.
Settings read_settings(const EngineOptions& options);

/// Only what differs from those that are used when nothing is set: "cudnn=0".
std::string to_text(const Settings& settings);

/// Where NVIDIA's libraries are looked for, before the system's places: the folder of
/// `--engine-library cuda=FOLDER` or MILLRACE_CUDA if one is given, and packages in it; else
/// Python's packages and the usual folders of the CUDA toolkit. EngineError if the one that is
/// given is no folder.
std::vector<std::filesystem::path> library_folders(const EngineOptions& options);

}  // namespace millrace::engine::cuda
