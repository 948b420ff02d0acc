#include "runtime/loaded/lasting_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "base/error.h"

namespace millrace::runtime {
namespace {

using Steady = std::chrono::steady_clock;

/// "second" of "second.core0"; empty: of this board.
std::string board_of(const std::string& processor) {
  const std::size_t dot = processor.find('.');
  return dot == std::string::npos ? "" : processor.substr(0, dot);
}

/// Whether the session computes on the board: devices with copy engines have such names too.
bool has_stage_on(const Session& session, const std::string& board) {
  return std::ranges::any_of(session.statistics(), [&](const StageStatistics& stage) {
    const std::string& name = stage.processor;
    if (!name.starts_with(board + ".")) return false;
    const std::string rest = name.substr(board.size() + 1);
    return rest != "in" && rest != "out" && rest != "copy";
  });
}

std::string processors_text(const plan::Plan& plan) {
  std::vector<std::string> names;
  for (const plan::Stage& stage : plan.stages)
    for (const board::Processor& processor : stage.processors) names.push_back(processor.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

LastingSession::LastingSession(Session first, std::vector<plan::Takeover> takeovers, Start start,
                               Note note)
    : session_(std::move(first)),
      takeovers_(std::move(takeovers)),
      start_(std::move(start)),
      note_(std::move(note)) {}

/// Whether all kept frames are on their way; else a result is ready.
bool LastingSession::submit_kept() {
  while (submitted_ < kept_.size()) {
    Kept& kept = kept_[submitted_];
    if (!session_.submit_unless_result(kept.inputs)) return false;
    kept.delay = Steady::now() - kept.began;
    ++submitted_;
  }
  return true;
}

bool LastingSession::submit_unless_result(std::span<const network::Array> inputs) {
  while (true) {
    try {
      if (!submit_kept() || !session_.submit_unless_result(inputs)) return false;
      kept_.push_back({{inputs.begin(), inputs.end()}, Steady::now()});
      ++submitted_;
      return true;
    } catch (const StageError& error) {
      take_over(error);
    }
  }
}

std::optional<Result> LastingSession::next() {
  while (true) {
    try {
      submit_kept();
      std::optional<Result> result = session_.next();
      if (!result) return result;
      result->frame += base_;
      result->latency += kept_.front().delay;
      kept_.pop_front();
      --submitted_;
      ++done_;
      return result;
    } catch (const StageError& error) {
      take_over(error);
    }
  }
}

bool LastingSession::may_have_made_nan(std::int64_t frame) const {
  return frame >= base_ && session_.may_have_made_nan(frame - base_);
}

std::string LastingSession::frames_text(const char* what) const {
  if (kept_.empty()) return "none was on its way";
  const auto last = done_ + static_cast<std::int64_t>(kept_.size()) - 1;
  return last == done_
             ? fmt::format("frame {} was on its way and is {}", done_, what)
             : fmt::format("frames {} to {} were on their way and are {}", done_, last, what);
}

void LastingSession::take_over(const StageError& error) {
  const std::string board = board_of(error.processor());
  if (board.empty() || !has_stage_on(session_, board)) throw error;
  const auto at = std::ranges::lower_bound(lost_, board);
  const bool is_new = at == lost_.end() || *at != board;
  if (is_new) lost_.insert(at, board);
  const plan::Takeover* const next = is_new ? plan::takeover_without(takeovers_, lost_) : nullptr;
  session_.stop();
  base_ = done_;
  submitted_ = 0;
  start_without(next, fmt::format("the board {} is lost ({})", board, error.what()));
}

/// If another board is gone as well, with the next plan that uses fewer.
void LastingSession::start_without(const plan::Takeover* next, const std::string& why) {
  const std::string done = fmt::format("{}; {} frames are done", why, done_);
  if (next == nullptr) throw EngineError(fmt::format("{}, {}", done, frames_text("lost")));
  try {
    Session following = start_(next->file.plan);
    stopped_.push_back(std::exchange(session_, std::move(following)));
  } catch (const std::runtime_error& error) {
    const auto* const end = takeovers_.data() + takeovers_.size();
    const auto* const fewer = std::find_if(next + 1, end, [&](const plan::Takeover& each) {
      return std::ranges::includes(each.without, next->without);
    });
    return start_without(fewer == end ? nullptr : fewer,
                         fmt::format("{}, and so is another ({})", why, error.what()));
  }
  lost_ = next->without;
  note_(fmt::format("{}, {}; from frame {} on a plan on {} takes over", done,
                    frames_text("computed again, so that none is lost"), done_,
                    processors_text(next->file.plan)));
}

}  // namespace millrace::runtime
