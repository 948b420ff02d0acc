#pragma once
// Paths of this machine in texts that go to a board, and those of a board in texts that come back.
#include <set>
#include <string>
#include <string_view>

namespace millrace::remote {

/// The text with `root` before each absolute path that is one of `paths`, or lies below one.
std::string with_root(std::string_view text, const std::string& root,
                      const std::set<std::string>& paths);

/// Takes the root out of a stream of bytes: paths below it become those of this machine.
class RootRemover {
 public:
  explicit RootRemover(std::string root) : root_(std::move(root)) {}
  /// What can be passed on by now: a part of the root at the end is kept back.
  std::string pass(std::string_view bytes);
  /// What was kept back.
  std::string end();

 private:
  std::string root_, kept_;
};

/// Whether a file of this name is text, in which paths may stand.
bool is_text(std::string_view name);

}  // namespace millrace::remote
