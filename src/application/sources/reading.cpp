#include "application/sources/reading.h"

#include <chrono>
#include <utility>

#include "application/steps.h"
#include "base/units.h"

namespace millrace::application {
namespace {

runtime::WhenFull rule_of(Drop drop) {
  return drop == Drop::block    ? runtime::WhenFull::block
         : drop == Drop::oldest ? runtime::WhenFull::drop_oldest
                                : runtime::WhenFull::drop_newest;
}

Time period_of(const Input& input) {
  return input.rate_fps > 0 ? time_from_seconds(1 / input.rate_fps) : Time{};
}

}  // namespace

runtime::Lane lane_of(const Input& input) {
  return {static_cast<std::size_t>(input.queue), rule_of(input.drop)};
}

Reading::Reading(Input input, Source* source)
    : input_(std::move(input)), source_(source), pace_(period_of(input_)) {}

std::optional<Picture> Reading::next() {
  if (!may_go_on()) return std::nullopt;
  const bool is_played = input_.rate_fps > 0;
  auto picture = read_next(*source_);
  if (!picture) return std::nullopt;  // before the wait: a file that begins again keeps its pace
  if (is_played && !pace_.wait()) return std::nullopt;
  ++read_;
  if (is_played) {
    picture->taken = Clock::now();
    picture->due = time_from_seconds(static_cast<double>(picture->frame) / input_.rate_fps);
  }
  last_due_ = picture->due;
  if (input_.kind == InputKind::camera) skipped_ = picture->frame + 1 - read_;
  return picture;
}

void Reading::end() {
  ended_ = true;
  pace_.end();
  if (input_.kind != InputKind::camera) return;  // a file that begins again changes its source
  if (Presence* const camera = source_->presence()) camera->end();
}

}  // namespace millrace::application
