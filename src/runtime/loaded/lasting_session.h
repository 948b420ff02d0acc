#pragma once
// A session that goes on with another plan when a board is lost.
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/takeovers.h"
#include "runtime/first_error.h"
#include "runtime/loaded/loaded.h"
#include "runtime/session.h"

namespace millrace::runtime {

/// As Session, for one thread. Inputs are kept until their results are taken, so the frames that
/// were on their way when a board was lost are computed again, and none is lost.
class LastingSession {
 public:
  using Start = std::function<Session(const plan::Plan&)>;
  using Note = std::function<void(const std::string&)>;
  /// `takeovers`: in the order of preference; without one that helps a stage's error ends it. The
  /// error says which frames are done and which are lost.
  LastingSession(Session first, std::vector<plan::Takeover> takeovers, Start start, Note note);

  bool submit_unless_result(std::span<const network::Array> inputs);
  std::optional<Result> next();
  bool may_have_made_nan(std::int64_t frame) const;
  /// The one that runs now.
  Session& current() { return session_; }

 private:
  struct Kept {
    std::vector<network::Array> inputs;
    std::chrono::steady_clock::time_point began;
    Time delay{};  // until it was submitted to the session that runs now
  };

  bool submit_kept();
  void take_over(const StageError& error);
  void start_without(const plan::Takeover* next, const std::string& why);
  std::string frames_text(const char* what) const;

  std::list<Session> stopped_;  // calls that were given up may still use their memory
  Session session_;
  std::vector<plan::Takeover> takeovers_;
  Start start_;
  Note note_;
  std::vector<std::string> lost_;     // boards, ascending
  std::deque<Kept> kept_;             // the frames without a result
  std::size_t submitted_ = 0;         // of them, to the session that runs now
  std::int64_t done_ = 0, base_ = 0;  // frames with a result; the number of the session's first one
};

}  // namespace millrace::runtime
