#include "cli/print/colour.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace millrace::cli {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

int code_of(Colour colour) {
  switch (colour) {
    case Colour::red: return 31;
    case Colour::green: return 32;
    case Colour::yellow: return 33;
    case Colour::bold: break;
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

}  // namespace millrace::cli
