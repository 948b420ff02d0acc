#include "simulate/processor.h"

#include <algorithm>

namespace millrace::simulate {
namespace {

constexpr double milliwatt_seconds(double milliwatts, Time time) {
  return milliwatts * seconds(time);
}

}  // namespace

std::optional<Piece> Processor::dispatch(Time now) {
  if (waiting_.empty()) return std::nullopt;
  auto first = waiting_.begin();
  if (options_.policy == Policy::preemptive)
    first = std::min_element(waiting_.begin(), waiting_.end(),
                             [](const Job& a, const Job& b) { return a.priority < b.priority; });
  std::optional<Piece> interrupted;
  if (running_) {
    const bool urgent =
        options_.policy == Policy::preemptive && first->priority < running_->priority;
    if (!urgent) return std::nullopt;
    interrupted = stop(now);
  }
  const Job next = *first;
  waiting_.erase(first);
  if (interrupted) waiting_.push_front(*running_);  // before others that are as urgent
  running_ = next;
  begin_piece(now);
  return interrupted;
}

void Processor::begin_piece(Time now) {
  since_ = now;
  until_ = now + running_->left / running_->kernels;
}

/// The running job's piece ends here; the job stays in `running_`.
Piece Processor::stop(Time now) {
  busy_ += now - std::max(since_, counted_from_);
  running_->left -= now - since_;
  return {running_->stage, since_, now, false};
}

Piece Processor::end_piece(Time now) {
  Piece piece = stop(now);
  until_ = Time::max();
  if (--running_->kernels > 0)
    waiting_.push_back(*running_);
  else
    piece.is_last = true;
  running_.reset();
  return piece;
}

void Processor::count_from(Time now) {
  counted_from_ = now;
  busy_ = Time{};
}

ProcessorResult Processor::result(Time now) const {
  ProcessorResult result{name_, busy_};
  if (running_) result.busy += now - std::max(since_, counted_from_);
  const Time idle = now - counted_from_ - result.busy;
  result.energy_mj =
      milliwatt_seconds(options_.busy_mw, result.busy) + milliwatt_seconds(options_.idle_mw, idle);
  return result;
}

void Processor::add_state(std::vector<std::int64_t>& state, Time now) const {
  state.push_back(static_cast<std::int64_t>(waiting_.size()));
  const auto add = [&](const Job& job, Time left) {
    state.push_back(static_cast<std::int64_t>(job.stage));
    state.push_back(left.count());
    state.push_back(job.kernels);
  };
  for (const Job& job : waiting_) add(job, job.left);
  if (running_) {
    add(*running_, running_->left - (now - since_));
    state.push_back((until_ - now).count());
  }
}

}  // namespace millrace::simulate
