#include "base/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstdlib>

namespace millrace {
namespace {

constexpr std::size_t narrowest = 60;

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

int code_of(Colour colour) {
  switch (colour) {
    case Colour::red:
      return 31;
    case Colour::green:
      return 32;
    case Colour::yellow:
      return 33;
    case Colour::bold:
      break;
  }
  return 1;
}

}  // namespace

bool has_colours(std::FILE* stream) {
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return !is_set("NO_COLOR") && !is_dumb && isatty(fileno(stream)) != 0;
}

std::string coloured(std::string_view text, Colour colour, std::FILE* stream) {
  if (!has_colours(stream)) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code_of(colour), text);
}

void write_error(std::initializer_list<std::string_view> pieces) noexcept {
  std::array<iovec, 4> all{};
  assert(pieces.size() <= all.size());
  int count = 0;
  for (const std::string_view piece : pieces)
    all[static_cast<std::size_t>(count++)] = {const_cast<char*>(piece.data()), piece.size()};
  iovec* next = all.data();
  while (count > 0) {
    const ssize_t result = ::writev(STDERR_FILENO, next, count);
    if (result < 0 && errno == EINTR) continue;
    if (result < 0) return;
    auto written = static_cast<std::size_t>(result);
    for (; count > 0 && written >= next->iov_len; ++next, --count) written -= next->iov_len;
    if (count == 0) return;
    next->iov_base = static_cast<char*>(next->iov_base) + written;
    next->iov_len -= written;
  }
}

std::size_t terminal_width() {
  winsize size{};
  const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? std::max<std::size_t>(size.ws_col, narrowest) : 100;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const bool is_first = column == indent;
    if (!is_first && column + 1 + word.size() > width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!is_first) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
    if (end < text.size() && text[end] == '\n') {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    }
    at = end + 1;
  }
  return result;
}

}  // namespace millrace
