#pragma once
// From the words that a user typed to a command that can be done on a board.
#include <functional>
#include <string>
#include <vector>

#include "remote/needs.h"

namespace millrace::remote {

/// What an option does with the word behind it.
struct OptionUse {
  bool takes_value = false;
  bool reads = false, writes = false;  // the file that it names
  bool is_ours = false;                // says how to reach the board, and does not go there
};
/// The use of an option as it was typed: "--output", "-o".
using UseOf = std::function<OptionUse(const std::string& option)>;

/// `words`: verb first; those that are no option are files that are read. `belonging`: options that
/// belong to them; its file is not read. A file that is not here keeps its name: it may be on the
/// board.
Command command_of(const std::vector<std::string>& words, const UseOf& use_of,
                   const NeededFile& belonging);

}  // namespace millrace::remote
