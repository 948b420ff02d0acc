#pragma once
// NumPy's .npz files: several arrays in a zip file.
#include <filesystem>
#include <map>
#include <string>

#include "network/tensor.h"

namespace millrace::test {

/// The arrays by name ("in:images"), stored or deflated.
std::map<std::string, network::Array> read_npz(const std::filesystem::path& path);

}  // namespace millrace::test
