// What the program and a worker on another board say to each other: a header, then bytes.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace millrace_cluster {

inline constexpr std::uint32_t magic = 0x3343524d;  // "MRC3": raised when messages change
/// A worker that hears nothing for so long ends: the program asks four times as often whether it is
/// there.
inline constexpr std::chrono::seconds longest_silence{60};
/// A larger body is refused before memory is taken for it.
inline constexpr std::uint64_t largest_body = std::uint64_t{4} << 30;

enum class Kind : std::uint32_t {
  hello = 1,  // body: version. Answer: the number of cores, bytes of memory; body: the model
  load,       // a: core, b: file of weights, which is used up, or 0; body: ONNX. Answer: program,
              // bytes of weights
  unload,     // a: program
  allocate,   // a: bytes. Answer: handle
  release,    // a: handle
  put,        // a: handle, b: its PiecePlace; body: a piece of what comes there, as the wire has it
  get,        // a: handle, b: its PiecePlace; body: the piece's bytes, 8 bytes. Answer: the piece
  run,  // a: program, b: 1 if layers' times are wanted; body: handles in and out, 8 bytes each.
        // Answer: nanoseconds; body: for each layer its group and time, 8 bytes each
  answer,
  failure,      // body: a sentence
  weights,      // a: bytes. Answer: file of weights
  put_weights,  // a: file of weights, b: where in it; body: a piece of it
};

/// A tensor crosses the link in pieces of so many bytes. As many are on their way at once as the
/// link takes in so long, so that other messages wait no longer.
inline constexpr std::uint64_t piece_bytes = 32 << 10;
inline constexpr std::chrono::milliseconds longest_queue{10};
inline constexpr std::size_t fewest_pieces = 2, most_pieces = 32;

/// Little-endian on both sides, as all boards are.
struct Header {
  std::uint32_t magic = millrace_cluster::magic;
  Kind kind = Kind::hello;
  std::uint64_t call = 0;  // whose answer it is
  std::int64_t a = 0, b = 0;
  std::uint64_t bytes = 0;  // of the body
};
static_assert(sizeof(Header) == 40);

struct Message {
  Header header;
  std::string body;
};

/// All of it, or false at the end of the stream, or at an error of the descriptor. Throws
/// std::runtime_error if what comes is no header of ours, or a body is too large.
bool read_header(int descriptor, Header& header);
bool read_all(int descriptor, void* bytes, std::uint64_t count);
bool write_all(int descriptor, const void* bytes, std::uint64_t count);

/// Header and body; false as write_all().
bool write_message(int descriptor, Header header, const void* body, std::uint64_t bytes);

}  // namespace millrace_cluster
