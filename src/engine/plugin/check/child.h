#pragma once
// Work in a process of its own, which may crash or hang.
#include <functional>
#include <string>
#include <vector>

namespace millrace::engine::plugin::check {

/// What a child tells its parent. Texts lose their ends of lines.
class Teller {
 public:
  explicit Teller(int pipe) : pipe_(pipe) {}
  /// What it is about to do: "run() of conv_1x1".
  void at(const std::string& text) { tell('@', text); }
  /// A result.
  void say(const std::string& text) { tell('=', text); }
  /// A fault: "wrong result: ...".
  void fault(const std::string& text) { tell('!', text); }

 private:
  void tell(char kind, std::string text);
  int pipe_;
};

struct Told {
  std::vector<std::string> results, faults;  // a crash and a hang are faults too
  std::string at;                            // the last thing that it was about to do
  bool ended = false;                        // by itself
};

/// Waits for the child, at most so many seconds for each thing that it tells. EngineError if there
/// can be none.
Told in_child(double limit, const std::function<void(Teller&)>& work);

}  // namespace millrace::engine::plugin::check
