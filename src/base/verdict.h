#pragma once
// The answer to "can you?": yes, or no with the reason.
#include <string>
#include <utility>

namespace millrace {

class Verdict {
 public:
  static Verdict yes() { return Verdict(true, {}); }
  static Verdict no(std::string reason) { return Verdict(false, std::move(reason)); }

  explicit operator bool() const { return yes_; }
  /// Why not; empty for yes.
  const std::string& reason() const { return reason_; }

 private:
  Verdict(bool yes, std::string reason) : yes_(yes), reason_(std::move(reason)) {}
  bool yes_;
  std::string reason_;
};

}  // namespace millrace
