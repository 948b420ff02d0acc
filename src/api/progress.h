#pragma once
// What long work shows on standard error: a bar on a terminal, plain lines elsewhere.
#include <chrono>
#include <string>

namespace millrace::api {

class Progress {
 public:
  explicit Progress(std::string title);
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// share in [0, 1]; text such as the best so far.
  void show(double share, const std::string& text);

 private:
  std::string title_;
  bool terminal_ = false;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

/// A line on standard error.
void note(const std::string& text);

}  // namespace millrace::api
