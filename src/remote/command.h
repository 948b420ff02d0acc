#pragma once
// A command that is to be done on a board, with the files that it reads and writes.
#include <filesystem>
#include <string>
#include <vector>

namespace millrace::remote {

/// A word of the command line. Where it names a file or folder, that is `path` as the user wrote
/// it, behind `before` ("--output="); else `path` is empty.
struct Word {
  std::string before;
  std::string path = {};
};

/// A place where the command may write.
struct Written {
  std::filesystem::path path;
  /// numbered: also NAME.*.npy beside NAME.npy.
  enum class Kind { file, numbered, tree } kind = Kind::file;
};

struct Command {
  std::vector<Word> words;
  std::vector<std::filesystem::path> reads;  // files and folders that are there; paths as opened
  std::vector<Written> writes;
};

/// Where a path of this machine lies below a session's folder.
std::string name_of(const std::filesystem::path& path);

/// Whether the command may write the file of this name.
bool may_write(const Command& command, const std::string& name);

}  // namespace millrace::remote
