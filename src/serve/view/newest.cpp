#include "serve/view/newest.h"

#include <algorithm>

namespace millrace::serve {
namespace {

constexpr std::chrono::milliseconds between_unwatched{200};

}  // namespace

void Newest::begin(std::size_t inputs) {
  const std::lock_guard lock(mutex_);
  inputs_.resize(std::max(inputs, inputs_.size()));
}

void Newest::take(const application::Outcome& outcome) {
  if (outcome.picture.image.empty()) return;
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  Input& input = inputs_[outcome.picture.source];
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

void Newest::watch(std::size_t input, int change) {
  const std::lock_guard lock(mutex_);
  inputs_.resize(std::max(inputs_.size(), input + 1));  // before the run there are none
  inputs_[input].watchers += change;
}

}  // namespace millrace::serve
