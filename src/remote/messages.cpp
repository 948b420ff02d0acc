#include "remote/messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/excerpt.h"
#include "base/split.h"

namespace millrace::remote {

std::string body_of(const Hello& hello) {
  return FieldWriter().add(hello.protocol).add(hello.version).add(hello.root).body();
}

Hello read_hello(std::string_view body) {
  FieldReader fields(body);
  Hello hello;
  hello.protocol = fields.number();
  if (hello.protocol != protocol) return hello;  // what follows may be different
  hello.version = fields.text();
  hello.root = fields.text();
  fields.end();
  return hello;
}

std::string body_of(const FileOffer& file) {
  return FieldWriter().add(file.name).add(file.digest).add(file.size).add(file.is_own ? 1 : 0)
      .body();
}

FileOffer read_file_offer(std::string_view body) {
  FieldReader fields(body);
  FileOffer file;
  file.name = fields.text();
  checked_name(file.name);
  file.digest = fields.text();
  if (!file.digest.empty() && !is_digest(file.digest)) throw BadMessage("a digest is none");
  file.size = fields.number();
  if (file.size < 0) throw BadMessage("a file has a negative size");
  file.is_own = fields.number() != 0;
  fields.end();
  return file;
}

std::string body_of(const Start& start) {
  return FieldWriter().add(start.folder).add(start.words)
      .add(start.has_terminal_out ? 1 : 0).add(start.has_terminal_err ? 1 : 0)
      .add(start.columns).add(start.terminal).body();
}

Start read_start(std::string_view body) {
  FieldReader fields(body);
  Start start;
  start.folder = fields.text();
  if (!start.folder.empty()) checked_name(start.folder);
  start.words = fields.texts();
  start.has_terminal_out = fields.number() != 0;
  start.has_terminal_err = fields.number() != 0;
  start.columns = fields.number();
  start.terminal = fields.text();
  fields.end();
  for (const std::string& word : start.words)
    if (word.find('\0') != word.npos) throw BadMessage("a word has a zero byte");
  return start;
}

std::string body_of(const Output& output) {
  return FieldWriter().add(output.is_error ? 1 : 0).add(output.bytes).body();
}

Output read_output(std::string_view body) {
  FieldReader fields(body);
  Output output;
  output.is_error = fields.number() != 0;
  output.bytes = fields.text();
  fields.end();
  return output;
}

std::string body_of(const Ended& ended) {
  return FieldWriter().add(ended.code).add(ended.signal).body();
}

Ended read_ended(std::string_view body) {
  FieldReader fields(body);
  const Ended ended{fields.number(), fields.number()};
  fields.end();
  if (ended.code < 0 || ended.code > 255 || ended.signal < 0 || ended.signal > 64)
    throw BadMessage("an exit code is none");
  return ended;
}

bool is_safe_name(std::string_view name) {
  constexpr std::size_t longest = 4000;
  if (name.empty() || name.size() > longest || name.find('\0') != name.npos) return false;
  const std::vector<std::string> parts = split(name, '/');
  return std::ranges::none_of(parts, [](const std::string& part) {
    return part.empty() || part == "." || part == "..";
  });
}

const std::string& checked_name(const std::string& name) {
  if (!is_safe_name(name))
    throw BadMessage(fmt::format("'{}' is no name below the session's folder", short_name(name)));
  return name;
}

bool is_digest(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace millrace::remote
