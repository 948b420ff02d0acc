#pragma once
// Framed messages of two sides that do not trust each other: 4 bytes length (little-endian), 1 byte
// kind, the body.
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::remote {

/// What both sides must speak alike; raised when messages change.
inline constexpr std::int64_t protocol = 1;

/// Before the agent's first message. What a login shell prints before it is passed over.
inline constexpr std::string_view greeting{"millrace agent\0\1\2\3", 18};

/// Larger bodies are refused on both sides before memory is taken for them.
inline constexpr std::size_t largest_body = std::size_t{1} << 20;
/// Files and output go in pieces of at most this size.
inline constexpr std::size_t piece_size = std::size_t{1} << 18;

enum class Kind : std::uint8_t {
  // both ways
  beat = 1,  // nothing but "I am here"
  piece,     // of a file's content
  piece_end,
  // from the agent
  hello,
  wanted,      // digests of files that it does not have
  wanted_end,
  output,  // of the program
  ended,
  produced,  // a file that the program made or changed
  produced_end,
  failure,  // a sentence: the agent goes
  // to the agent
  file,  // that the program needs
  file_end,
  start,
  interrupt,  // as Ctrl-C
  give,       // the content of a produced file
};

struct WireMessage {
  Kind kind = Kind::beat;
  std::string body;
};

/// The other side does not keep to the protocol.
class BadMessage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Precondition: the body has at most largest_body bytes.
std::string framed(Kind kind, std::string_view body);

/// Takes bytes as they come, gives whole messages.
class FrameReader {
 public:
  void feed(std::string_view bytes) { bytes_ += bytes; }
  /// BadMessage for a length or kind that no message has.
  std::optional<WireMessage> next();

 private:
  std::string bytes_;
  std::size_t at_ = 0;  // what is before it was given
};

/// The fields of a body, one after the other.
class FieldWriter {
 public:
  FieldWriter& add(std::string_view text);
  FieldWriter& add(std::int64_t number);
  FieldWriter& add(const std::vector<std::string>& texts);
  /// BadMessage if it would be larger than a body may be.
  std::string body() const;

 private:
  std::string bytes_;
};

/// All functions: BadMessage if the body has not so much.
class FieldReader {
 public:
  explicit FieldReader(std::string_view body) : left_(body) {}
  std::string text();
  std::int64_t number();
  std::vector<std::string> texts();
  /// BadMessage if something is left.
  void end() const;

 private:
  std::string_view take(std::size_t count);
  std::string_view left_;
};

}  // namespace millrace::remote
