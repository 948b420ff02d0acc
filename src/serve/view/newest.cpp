#include "serve/view/newest.h"

#include <algorithm>

namespace millrace::serve {
namespace {

constexpr std::chrono::milliseconds between_unwatched{200};
constexpr int most_watchers = 8;  // each has a thread of the server, which has a few more

}  // namespace

void Newest::begin(std::size_t inputs) {
  const std::lock_guard lock(mutex_);
  inputs_.resize(std::max(inputs, inputs_.size()));
}

void Newest::take(std::size_t number, const application::Outcome& outcome) {
  if (outcome.picture.image.empty()) return;
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  Input& input = inputs_[number];
  if (input.watchers == 0 && now - input.kept < between_unwatched) return;
  input.kept = now;
  input.shown = {input.shown.number + 1, std::make_shared<const application::Outcome>(outcome)};
  moment_.notify_all();
}

void Newest::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  moment_.notify_all();
}

Newest::Wait Newest::next(std::size_t input, std::int64_t number, std::chrono::milliseconds time,
                          Shown& shown) {
  std::unique_lock lock(mutex_);
  const auto is_there = [&] {
    return ended_ || (input < inputs_.size() && inputs_[input].shown.number > number);
  };
  if (!moment_.wait_for(lock, time, is_there)) return Wait::nothing;
  if (ended_) return Wait::ended;
  shown = inputs_[input].shown;
  return Wait::shown;
}

bool Newest::watch(std::size_t input) {
  const std::lock_guard lock(mutex_);
  if (watchers_ == most_watchers) return false;
  inputs_.resize(std::max(inputs_.size(), input + 1));  // before the run there are none
  ++inputs_[input].watchers;
  ++watchers_;
  return true;
}

void Newest::watch_no_more(std::size_t input) {
  const std::lock_guard lock(mutex_);
  --inputs_[input].watchers;
  --watchers_;
}

}  // namespace millrace::serve
