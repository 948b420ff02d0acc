#pragma once
// What a video's file says of its own length.
#include <cstdint>
#include <filesystem>
#include <optional>

namespace millrace::application {

/// Whether files of this kind (AVI, MP4, MOV) hold the number of their frames. That of others is
/// only an estimate: their length in time by their rate. InputError if it cannot be read.
bool announces_frames(const std::filesystem::path& path);

/// The bytes that a Matroska or WebM file should have, if it says so. InputError as above.
std::optional<std::uint64_t> announced_bytes(const std::filesystem::path& path);

}  // namespace millrace::application
