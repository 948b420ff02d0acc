#pragma once
// The newest picture of each input, for who watches.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "application/sink.h"

namespace millrace::serve {

/// Any thread. Frames are copied only while somebody watches, or a few times a second.
class Newest {
 public:
  struct Shown {
    std::int64_t number = 0;                              // of those that were kept, from 1
    std::shared_ptr<const application::Outcome> outcome;  // shared by all who draw it
  };
  enum class Wait { shown, nothing, ended };

  void begin(std::size_t inputs);
  void take(std::size_t number, const application::Outcome& outcome);
  /// All waits end.
  void end();

  /// The first one after `number`; waits for it for so long at most.
  Wait next(std::size_t input, std::int64_t number, std::chrono::milliseconds time, Shown& shown);
  /// Who watches an input is counted. False: so many watch already that no more can.
  bool watch(std::size_t input);
  void watch_no_more(std::size_t input);

 private:
  struct Input {
    Shown shown;
    int watchers = 0;
    std::chrono::steady_clock::time_point kept = {};
  };
  std::mutex mutex_;
  std::condition_variable moment_;
  std::vector<Input> inputs_;
  int watchers_ = 0;  // of all
  bool ended_ = false;
};

}  // namespace millrace::serve
