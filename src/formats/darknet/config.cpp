#include "formats/darknet/config.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"

namespace millrace::formats::darknet {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' && !is_space(c) && c != '\n'; }

/// Without spaces and comment.
std::string stripped(std::string_view line) {
  std::string result(line.substr(0, line.find_first_of("#;")));
  std::erase_if(result, is_space);
  return result;
}

/// For messages: at most the first 40 characters.
std::string shortened(const std::string& text) {
  constexpr std::size_t most = 40;
  return text.size() <= most ? text : fmt::format("{:.{}}...", text, most);
}

class Parser {
 public:
  explicit Parser(const std::string& file) : file_(file) {}

  void read(const std::string& text) {
    ++line_;
    if (text.empty()) return;
    if (text.front() == '[')
      read_section(text);
    else
      read_option(text);
  }
  std::vector<Section> sections;

 private:
  [[noreturn]] void fail(const std::string& text) const {
    throw InputError(fmt::format("{}: line {}", file_, line_), text);
  }
  void read_section(const std::string& text) {
    if (text.back() != ']' || text.size() < 3)
      fail(fmt::format("found '{}', expected a section such as [convolutional]", shortened(text)));
    sections.emplace_back(file_, text.substr(1, text.size() - 2), line_);
  }
  void read_option(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      fail(
          fmt::format("found '{}', expected [section] or option=value; is this a Darknet "
                      "configuration?",
                      shortened(text)));
    if (sections.empty())
      fail(fmt::format("'{}' stands before the first section; begin with [net]", shortened(text)));
    sections.back().add({text.substr(0, equals), text.substr(equals + 1), line_});
  }

  const std::string& file_;
  std::size_t line_ = 0;
};

}  // namespace

std::vector<Section> parse_config(std::string_view text, const std::string& file) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    throw InputError(file, "is UTF-16 text, expected UTF-8; save it as UTF-8 in an editor");
  text = without_byte_order_mark(text);
  if (std::ranges::any_of(text, is_control))
    throw InputError(file,
                     "is not text, expected a Darknet configuration; weights belong into "
                     "their own file, which is given with ⟨weights⟩");
  Parser parser(file);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    parser.read(stripped(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const std::vector<Section>& sections = parser.sections;
  if (sections.empty()) throw InputError(file, "has no sections, expected a Darknet configuration");
  if (sections.front().kind() != "net" && sections.front().kind() != "network")
    sections.front().fail("is the first section, expected [net] with the size of the input");
  if (sections.size() == 1) sections.front().fail("is the only section: there are no layers");
  return std::move(parser.sections);
}

}  // namespace millrace::formats::darknet
