#include "application/sources/intake.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace millrace::application {
namespace {

std::vector<runtime::Lane> lanes_of(const std::vector<Input>& inputs) {
  std::vector<runtime::Lane> lanes;
  for (const Input& input : inputs) lanes.push_back(lane_of(input));
  return lanes;
}

/// In the order of the application's inputs. An input alone, and those that are no live ones, are
/// read as one.
std::vector<std::unique_ptr<Reading>> readings_of(const Application& application, Source* source) {
  std::vector<std::unique_ptr<Reading>> readings;
  const std::vector<Source*> lanes = source->lanes();
  if (lanes.empty() || !application.input.is_live()) {
    Input input = application.input;
    if (!lanes.empty()) input.frames = 0;  // each input counts its own
    readings.push_back(std::make_unique<Reading>(input, source));
    return readings;
  }
  const std::vector<Input> inputs = application.inputs();
  for (std::size_t i = 0; i < lanes.size(); ++i)
    readings.push_back(std::make_unique<Reading>(inputs[i], lanes[i]));
  return readings;
}

}  // namespace

Intake::Intake(const Application& application, Source* source)
    : is_live_(application.input.is_live()),
      queue_(lanes_of(application.inputs())),
      readings_(readings_of(application, source)) {}

Intake::~Intake() {
  end();
  close();
}

void Intake::begin() {
  if (!is_live_) return;
  for (std::size_t lane = 0; lane < readings_.size(); ++lane)
    readers_.push_back(std::make_unique<runtime::Pool>(
        [this, lane] { return read(lane); },
        runtime::PoolOptions{"input", 1, {}, [this, lane](std::exception_ptr error) {
                               queue_.finish(error, lane);
                             }}));
}

std::optional<runtime::Job> Intake::read(std::size_t lane) {
  auto picture = readings_[lane]->next();
  if (!picture) return std::nullopt;
  auto shared = std::make_shared<Picture>(std::move(*picture));
  return runtime::Job{[] {}, [this, shared, lane] { return queue_.put(std::move(*shared), lane); }};
}

std::optional<Picture> Intake::take() {
  if (is_live_) return queue_.take();
  return queue_.is_held() ? std::nullopt : readings_.front()->next();
}

void Intake::end() {
  for (const auto& reading : readings_) reading->end();
}

void Intake::end_now() {
  end();
  queue_.drop_old();
}

void Intake::close() { queue_.close(); }

bool Intake::wait_for(std::chrono::milliseconds time) {
  return std::ranges::all_of(readers_, [&](const auto& reader) { return reader->wait_for(time); });
}

std::vector<Counted> Intake::counted() const {
  std::vector<Counted> all;
  for (std::size_t lane = 0; lane < readings_.size(); ++lane) {
    const Reading& reading = *readings_[lane];
    Counted& each = all.emplace_back();
    each.queue = queue_.counts(lane);
    const std::int64_t skipped = reading.skipped();
    each.queue.put += skipped;
    each.queue.dropped += skipped;
    each.gaps = reading.gaps();
    each.last_due = reading.last_due();
  }
  return all;
}

}  // namespace millrace::application
