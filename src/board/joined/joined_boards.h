#pragma once
// Several boards beside each other as one: docs/methods/clusters.md.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "board/board.h"
#include "board/variant.h"

namespace millrace::board {

/// A board that is reached over a link.
struct Neighbour {
  std::string name;
  std::string board;        // a file or a shipped name; empty: it is measured
  std::string reach;        // what starts a command there, "ssh pi@second"; empty: it is not there
  std::string worker = {};  // the program that it starts; empty: millrace-worker
  double bytes = 0;         // per second of the link, in each direction; 0: unknown
  Time latency{};           // of a message, one way
  Bytes memory = {};        // that its worker may use; 0: what the worker finds
  Precision wire = Precision::f32;  // f32, f16 or int8: in what float32 tensors cross the link
  double nj_per_byte = 0;           // that both ends of the link draw for a byte on it
};

/// A board file with the key `boards`. All links end at the machine where the program runs.
struct JoinedBoards {
  std::string name;
  std::string here;  // the board where the program runs: a file or a shipped name; empty: unknown
  std::vector<Neighbour> boards;  // at least one
  bool replans = false;  // `on_loss: replan`: plans get others that take over without some boards
};

/// The links of a file of boards; none of another board, by name or file.
struct Link {
  std::string board;  // that it leads to
  double nj_per_byte = 0;
  Precision wire = Precision::f32;
  bool operator==(const Link&) const = default;
};
std::vector<Link> links_of(const std::string& name_or_path);
/// Bytes of a float32 number on the wire.
std::int64_t bytes_on_wire(Precision wire);

bool is_joined_boards(const YamlView& file);
/// InputError naming file and line.
JoinedBoards read_joined_boards(const YamlView& file);
JoinedBoards read_joined_boards(const std::string& path);

/// Sets of boards that may be lost, for which a plan is prepared, the smallest first: all sets of
/// up to 3 boards; of up to 8, each alone and all together; of more, all together. Names ascending.
std::vector<std::vector<std::string>> losses_of(const JoinedBoards& boards);

/// The processors of all boards: those of the neighbours are devices with a memory of their own,
/// all of one board with the same, behind two copy engines: the link's two directions. Called
/// "second.core0". What a neighbour draws beside its processors, these draw all the time, each the
/// same share. `find`: a board by name or file. InputError if a board is not named, or one of its
/// devices has a memory that lies behind its own link.
using FindBoard = std::function<auto(const std::string&)->Board>;
Board joined(const JoinedBoards& boards, const FindBoard& find);

}  // namespace millrace::board
