#pragma once
// Which call into somebody else's code this thread is in: for who explains a crash.
#include <algorithm>
#include <array>
#include <string_view>

namespace millrace {

/// While it lives, the thread is in this call: "the plug-in npu in run() for npu0".
class ForeignCall {
 public:
  explicit ForeignCall(std::string_view what) {
    const std::size_t size = std::min(what.size(), text().size() - 1);
    std::copy_n(what.begin(), size, text().begin());
    text()[size] = 0;
  }
  ~ForeignCall() { text()[0] = 0; }
  ForeignCall(const ForeignCall&) = delete;
  ForeignCall& operator=(const ForeignCall&) = delete;

  /// Empty: none. Also in a signal handler.
  static std::string_view of_this_thread() { return text().data(); }

 private:
  static std::array<char, 512>& text() {
    static thread_local std::array<char, 512> text{};
    return text;
  }
};

}  // namespace millrace
