#include "application/live/group_feed.h"

#include <algorithm>
#include <utility>

namespace millrace::application {

void GroupFeed::begin() {
  if (own_) own_->begin();
  running_ = true;
}

bool GroupFeed::put(Given given) {
  if (closed_) return false;
  given.number = submitted_++;
  if (given.picture) given.picture->frame = given.number;
  if (policy_ == FeedPolicy::every) return inputs_.put(std::move(given));
  overwritten_ += static_cast<std::int64_t>(inputs_.replace(std::move(given)));
  return true;
}

void GroupFeed::close() {
  closed_ = true;
  inputs_.close();
  if (own_) own_->end();
}

std::optional<Given> GroupFeed::newest() {
  if (!own_) return inputs_.take();
  auto picture = running_ ? own_->take() : std::nullopt;
  if (!picture) return std::nullopt;
  return Given{picture->frame, picture->taken + picture->lag, {}, std::move(*picture)};
}

/// The newest one, or again the one before.
const Given& GroupFeed::next() {
  auto given = newest();
  const bool is_new = given.has_value();
  if (is_new) current_ = std::move(*given);
  if (!running_) return current_;
  const std::lock_guard lock(mutex_);
  on_the_way_.push_back({{current_.number, !is_new, current_.arrived}, current_.number >= 0});
  return current_;
}

std::optional<Picture> GroupFeed::picture() { return next().picture; }

void GroupFeed::fill(std::span<const std::span<std::byte>> inputs) {
  const Given& given = next();
  for (std::size_t i = 0; i < given.arrays.size(); ++i)
    std::ranges::copy(given.arrays[i].bytes(), inputs[i].data());
}

void GroupFeed::filled(bool is_new) {
  if (!running_) return;
  const std::lock_guard lock(mutex_);
  OnTheWay& last = on_the_way_.back();
  if (is_new) last.taken.repeated = false;
  if (std::exchange(last.has_input, true)) return;
  last.taken.arrived = std::chrono::steady_clock::now();
}

void GroupFeed::take(LiveResult result) {
  if (!running_) return;
  const std::lock_guard lock(mutex_);
  on_the_way_[results_taken_++].taken.result = std::move(result);
}

void GroupFeed::ended(const runtime::EndedFrame& frame) {
  OnTheWay ended;
  {
    const std::lock_guard lock(mutex_);
    ended = std::move(on_the_way_.front());
    on_the_way_.pop_front();
    --results_taken_;
  }
  if (!ended.has_input) {
    ++without_;
    return;
  }
  if (ended.taken.repeated) ++repeated_;
  ended.taken.frame = frame;
  results_.push(std::move(ended.taken));
}

FeedCounts GroupFeed::counts() const {
  return {submitted_, overwritten_, repeated_, without_, results_.dropped()};
}

}  // namespace millrace::application
