#include "base/file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <ostream>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/files/regular_file.h"
#include "base/temporary.h"

namespace millrace {
namespace {

void produce_into(const std::filesystem::path& file, const std::filesystem::path& path,
                  const std::function<void(std::ostream&)>& produce) {
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  if (!out) cannot_write(path, errno);
  produce(out);
  out.close();
  if (!out) cannot_write(path, errno);
}

/// What was opened first sees to it that opening it as a stream does not wait.
void produce_into_special(const std::filesystem::path& target, const std::filesystem::path& path,
                          const std::function<void(std::ostream&)>& produce) {
  struct Open {
    int file;
    ~Open() { ::close(file); }
  };
  const Open open{open_special(target, path)};
  produce_into(target, path, produce);
}

/// As other texts of the program go there, through the C library's buffer.
void produce_into_standard_output(const std::function<void(std::ostream&)>& produce) {
  std::ostringstream text;
  produce(text);
  const std::string content = std::move(text).str();
  if (std::fwrite(content.data(), 1, content.size(), stdout) != content.size())
    cannot_write(standard_output, errno);
}

void check_is_readable(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error && size > largest_text)
    throw InputError(path.string(),
                     fmt::format("has {:.1f} GiB, but such a file can have at most "
                                 "{} GiB; is this the right file?",
                                 static_cast<double>(size) / 0x1p30, largest_text >> 30));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0u);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::ifstream open_file(const std::filesystem::path& path) {
  if (path.empty()) throw InputError("''", "is no name of a file");
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw InputError(path.string(), fmt::format("cannot be opened: {}", std::strerror(errno)));
  return in;
}

std::ifstream open_regular_file(const std::filesystem::path& path) {
  check_is_regular(path);
  return open_file(path);
}

std::string read_file(const std::filesystem::path& path) {
  std::error_code error;
  std::ifstream in = open_regular_file(path);
  check_is_readable(path);
  std::string content;
  constexpr std::size_t piece = 1 << 20;
  if (const auto size = std::filesystem::file_size(path, error); !error)
    content.reserve(static_cast<std::size_t>(size) + piece);
  while (in) {
    const std::size_t size = content.size();
    content.resize(size + piece);
    in.read(content.data() + size, piece);
    content.resize(size + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) throw InputError(path.string(), "cannot be read to its end");
  return content;
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  write_file(path, [&](std::ostream& out) {
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
  });
}

void write_file(const std::filesystem::path& path,
                const std::function<void(std::ostream&)>& produce) {
  if (path == standard_output) return produce_into_standard_output(produce);
  const std::filesystem::path target = target_of(path);
  if (is_special(target)) return produce_into_special(target, path, produce);
  const InterruptGuard until_it_is_whole(interrupt_of_files());
  TemporaryFile temporary(target);
  produce_into(temporary.path(), path, produce);
  temporary.rename();
}

void check_writable(const std::filesystem::path& path) {
  if (path == standard_output) return;
  const std::filesystem::path target = target_of(path);
  if (is_special(target)) return;
  sweep_temporaries(target.parent_path());
  const InterruptGuard until_it_is_removed(interrupt_of_files());
  const TemporaryFile temporary(target);
}

std::string nearest_word(std::string_view word, std::span<const std::string_view> known) {
  constexpr std::size_t longest = 100;  // to compare; the time grows with the square
  if (word.size() > longest) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, (word.size() + 2) / 3) + 1;
  for (std::string_view candidate : known) {
    if (candidate.size() > longest) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return std::string(best);
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string near = nearest_word(word, known);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

}  // namespace millrace
