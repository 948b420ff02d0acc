#pragma once
// What is in the messages. Each body_of() and each read_...() are the two ways of one message;
// reading throws BadMessage for what no message of ours has.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "remote/wire.h"

namespace millrace::remote {

/// The agent's first message.
struct Hello {
  std::int64_t protocol = remote::protocol;
  std::string version;  // of the program
  std::string root;     // the session's folder there, under which all names lie
};
std::string body_of(const Hello& hello);
Hello read_hello(std::string_view body);

/// A file that the program needs, or a folder. Names are absolute paths here without the first "/".
struct FileOffer {
  std::string name;
  std::string digest;     // of its content; empty: a folder
  std::int64_t size = 0;  // bytes
  bool is_own = false;    // not shared with other sessions: its program may change it
};
std::string body_of(const FileOffer& file);
FileOffer read_file_offer(std::string_view body);

/// What is started: the agent's own program with these words.
struct Start {
  std::string folder;  // the name of that in which it is started; empty: the root
  std::vector<std::string> words;
  bool has_terminal_out = false, has_terminal_err = false;
  std::int64_t columns = 0;  // of the terminal; 0: none
  std::string terminal;      // TERM; empty: none
};
std::string body_of(const Start& start);
Start read_start(std::string_view body);

struct Output {
  bool is_error = false;  // standard error, else standard output
  std::string bytes;
};
std::string body_of(const Output& output);
Output read_output(std::string_view body);

struct Ended {
  std::int64_t code = 0, signal = 0;  // signal: 0 if it ended by itself
};
std::string body_of(const Ended& ended);
Ended read_ended(std::string_view body);

/// Whether a name stays in its folder: relative, without "..", ".", empty parts and zero bytes, and
/// not too long.
bool is_safe_name(std::string_view name);
/// BadMessage if it does not.
const std::string& checked_name(const std::string& name);

/// Whether a text is a digest as Hasher::digits() gives it.
bool is_digest(std::string_view text);

}  // namespace millrace::remote
