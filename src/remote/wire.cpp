#include "remote/wire.h"

#include <fmt/format.h>

namespace millrace::remote {
namespace {

constexpr std::size_t header_size = 5;

template <class Number>
std::string bytes_of(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof number; ++i)
    bytes += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xff);
  return bytes;
}

template <class Number>
Number number_in(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    number |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return static_cast<Number>(number);
}

}  // namespace

std::string framed(Kind kind, std::string_view body) {
  std::string frame = bytes_of(static_cast<std::uint32_t>(body.size()));
  frame += static_cast<char>(kind);
  return frame.append(body);
}

std::optional<WireMessage> FrameReader::next() {
  const std::string_view left = std::string_view(bytes_).substr(at_);
  if (left.size() < header_size) return std::nullopt;
  const std::size_t size = number_in<std::uint32_t>(left);
  const auto kind = static_cast<std::uint8_t>(left[4]);
  if (size > largest_body)
    throw BadMessage(fmt::format("a message of {} bytes came, {} are allowed", size, largest_body));
  if (kind < static_cast<std::uint8_t>(Kind::beat) || kind > static_cast<std::uint8_t>(Kind::give))
    throw BadMessage(fmt::format("a message of the unknown kind {} came", kind));
  if (left.size() < header_size + size) return std::nullopt;
  WireMessage message{Kind{kind}, std::string(left.substr(header_size, size))};
  at_ += header_size + size;
  if (at_ == bytes_.size() || at_ > largest_body) {
    bytes_.erase(0, at_);
    at_ = 0;
  }
  return message;
}

FieldWriter& FieldWriter::add(std::string_view text) {
  bytes_ += bytes_of(static_cast<std::uint32_t>(text.size()));
  bytes_ += text;
  return *this;
}

FieldWriter& FieldWriter::add(std::int64_t number) {
  bytes_ += bytes_of(number);
  return *this;
}

FieldWriter& FieldWriter::add(const std::vector<std::string>& texts) {
  add(static_cast<std::int64_t>(texts.size()));
  for (const std::string& text : texts) add(text);
  return *this;
}

std::string FieldWriter::body() const {
  if (bytes_.size() > largest_body)
    throw BadMessage(fmt::format("{} bytes are too many for one message, {} are allowed",
                                 bytes_.size(), largest_body));
  return bytes_;
}

std::string_view FieldReader::take(std::size_t count) {
  if (count > left_.size()) throw BadMessage("a message ends too early");
  const std::string_view taken = left_.substr(0, count);
  left_.remove_prefix(count);
  return taken;
}

std::string FieldReader::text() {
  const auto size = number_in<std::uint32_t>(take(sizeof(std::uint32_t)));
  return std::string(take(size));
}

std::int64_t FieldReader::number() {
  return number_in<std::int64_t>(take(sizeof(std::int64_t)));
}

std::vector<std::string> FieldReader::texts() {
  const std::int64_t count = number();
  if (count < 0 || static_cast<std::uint64_t>(count) > left_.size() / sizeof(std::uint32_t))
    throw BadMessage("a list is longer than its message");
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < count; ++i) texts.push_back(text());
  return texts;
}

void FieldReader::end() const {
  if (!left_.empty()) throw BadMessage("a message is longer than expected");
}

}  // namespace millrace::remote
