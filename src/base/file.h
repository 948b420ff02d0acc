#pragma once
// Whole files in and out. Writing is atomic: the old file or the new one, never half of it.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

namespace millrace {

/// For reading it as bytes. InputError naming the path if it cannot be opened.
std::ifstream open_file(const std::filesystem::path& path);
/// The same; also InputError for a device, which may have no end, and for a pipe.
std::ifstream open_regular_file(const std::filesystem::path& path);

/// Texts and pictures of more bytes are refused before they are read: they would need many times
/// the memory.
inline constexpr std::uintmax_t largest_text = std::uintmax_t{1} << 30;

/// A regular file's content. InputError with the path if it cannot be read or has more than
/// largest_text.
std::string read_file(const std::filesystem::path& path);

/// Writes to a temporary file beside `path`, waits until it is on the disk, then renames it over
/// `path`. On failure the
/// temporary is removed, `path` is as it was, and EngineError says why ("no space left"). What is
/// there keeps its permissions; if it is write-protected, that is an EngineError. A link is
/// followed; a device or a pipe is written to directly. Ctrl-C waits until the file is whole.
void write_file(const std::filesystem::path& path, std::string_view content);

/// The same for content that is produced piece by piece; an exception from `produce` removes
/// the temporary and is passed on.
void write_file(const std::filesystem::path& path,
                const std::function<void(std::ostream&)>& produce);

/// The name of standard output where a file to write is named.
inline constexpr const char* standard_output = "-";

/// Throws now, and leaves everything as it is, if write_file could not begin: before work whose
/// result would be lost. Temporary files of killed processes beside `path` are gone after it.
void check_writable(const std::filesystem::path& path);

/// Among `known`, the word nearest to `word` by edit distance, for "did you mean"; empty if
/// none is near, or if the word has more than 100 characters.
std::string nearest_word(std::string_view word, std::span<const std::string_view> known);
/// "; did you mean 'capacity'?" with that word; empty if there is none.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace millrace
