#pragma once
// Places where a user's folder may hold anything, and a file is expected: nothing here waits for
// the other end of a pipe.
#include <filesystem>

namespace millrace {

/// InputError that says what is there, if it is a folder, a pipe, a socket or a device: before
/// somebody else's code opens it. What is not there passes.
void check_is_regular(const std::filesystem::path& path);

/// A descriptor for reading, closed by the caller; -1 if it is no regular file or cannot be opened.
int open_regular_descriptor(const std::filesystem::path& path);

}  // namespace millrace
