#pragma once
// What a video's file says of its own length.
#include <cstdint>
#include <filesystem>
#include <optional>

namespace millrace::application {

/// Whether files of this kind (AVI, MP4, MOV) hold the number of their frames, and this file can
/// hold `frames`. The number of others is only an estimate: their length in time by their rate.
/// InputError if it cannot be read.
bool announces_frames(const std::filesystem::path& path, std::int64_t frames);

/// The bytes that a Matroska or WebM file should have, if it says so; and those of an MP4 or MOV
/// file that is cut within its frames. InputError as above.
std::optional<std::uint64_t> announced_bytes(const std::filesystem::path& path);

}  // namespace millrace::application
