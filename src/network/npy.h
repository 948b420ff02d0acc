#pragma once
// NumPy's .npy files: frames in, results out.
#include <filesystem>

#include "network/tensor.h"

namespace millrace::network {

/// Little-endian, C order, versions 1 to 3 of the format, any type of DataType. InputError
/// names the file, what was found and what to do.
Array read_npy(const std::filesystem::path& path);

/// Atomically; version 1, as numpy.save writes it. EngineError if the disk refuses.
void write_npy(const std::filesystem::path& path, const Array& array);

}  // namespace millrace::network
