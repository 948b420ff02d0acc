#include "application/live/live_inputs.h"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <utility>

#include "application/steps.h"
#include "base/error.h"

namespace millrace::application {
namespace {

/// How many pictures of a file that nobody plays as live wait, decoded.
constexpr std::size_t read_ahead = 8;

std::vector<runtime::Lane> lanes_of(const Application& application) {
  std::vector<runtime::Lane> lanes;
  for (const Input& input : application.inputs())
    lanes.push_back(input.is_live() ? lane_of(input)
                                    : runtime::Lane{read_ahead, runtime::WhenFull::block});
  return lanes;
}

Application with_input(Application application, const Input& input) {
  application.input = input;
  application.beside.clear();
  return application;
}

}  // namespace

/// Touched by its reader, but for what end() and totals() use, and `is_open` under the mutex.
struct LiveInputs::Lane {
  Application settings;  // with this input alone
  std::size_t number = 0;
  std::unique_ptr<Source> source = {};
  std::optional<Reading> reading = {};
  bool is_open = false;
  std::atomic<std::int64_t> passes{0}, skipped{0};
  std::int64_t in_pass = 0;
  std::int64_t first = 0, last = -1;  // frame numbers: of this pass, and of the last picture
  Time shift{};                       // of what is due in this pass
  std::optional<Time> last_due = {};
  Time step{};  // between the last two that were due
  std::unique_ptr<runtime::Pool> reader = {};

  bool is_camera() const { return settings.input.kind == InputKind::camera; }
  void number_on(Picture& picture) {
    picture.frame += first;
    last = picture.frame;
    if (!picture.due) return;
    picture.due = *picture.due + shift;
    if (last_due) step = *picture.due - *last_due;
    last_due = picture.due;
  }
  void begin_again() {
    ++passes;
    in_pass = 0;
    first = last + 1;
    if (last_due) shift = *last_due + step;
  }
};

LiveInputs::LiveInputs(const Application& application, const network::Network& network,
                       std::function<void(const std::string&)> note)
    : network_(network), note_(std::move(note)), queue_(lanes_of(application)) {
  for (const Input& input : application.inputs()) {
    Lane& lane = *lanes_.emplace_back(std::make_unique<Lane>());
    lane.settings = with_input(application, input);
    lane.number = lanes_.size() - 1;
  }
}

LiveInputs::~LiveInputs() {
  try {
    end();
  } catch (...) {
    // Nobody asks for it any more.
  }
}

void LiveInputs::begin() {
  for (const auto& lane : lanes_)
    lane->reader = std::make_unique<runtime::Pool>(
        [this, number = lane->number] { return read(number); },
        runtime::PoolOptions{"input", 1, {}, [this, number = lane->number](auto error) {
                               queue_.finish(error, number);
                               note_opened(*lanes_[number]);
                             }});
  std::unique_lock lock(mutex_);
  for (const auto& lane : lanes_) opened_.wait(lock, [&] { return lane->is_open; });
  lock.unlock();
  for (const auto& lane : lanes_)
    if (!lane->reading) end();  // rethrows why
}

void LiveInputs::note_opened(Lane& lane) {
  const std::lock_guard lock(mutex_);
  lane.is_open = true;
  opened_.notify_all();
}

void LiveInputs::open(Lane& lane) {
  lane.source = open_source(lane.settings, network_);
  if (lane.reading) {
    lane.begin_again();
    lane.reading->go_on(lane.source.get());
    return;
  }
  lane.passes = 1;
  lane.reading.emplace(lane.settings.input, lane.source.get());
  note_opened(lane);
}

std::optional<Picture> LiveInputs::next(Lane& lane) {
  if (!lane.source) open(lane);
  while (true) {
    if (auto picture = lane.reading->next()) {
      ++lane.in_pass;
      return picture;
    }
    if (lane.is_camera() || lane.in_pass == 0 || !lane.reading->may_go_on()) break;
    open(lane);
  }
  if (const auto complaint = lane.source->complaint())
    note_(complaint->place + ": " + complaint->text);
  return std::nullopt;
}

std::optional<runtime::Job> LiveInputs::read(std::size_t number) {
  Lane& lane = *lanes_[number];
  auto picture = next(lane);
  if (!picture) return std::nullopt;
  const auto kept = std::make_shared<Picture>(std::move(*picture));
  return runtime::Job{[this, &lane, kept] { decode(lane, *kept); },
                      [this, &lane, kept] {
                        if (kept->image.empty() && kept->arrays.empty()) return true;
                        return queue_.put(std::move(*kept), lane.number);
                      }};
}

/// A picture that may be skipped stays empty.
void LiveInputs::decode(Lane& lane, Picture& picture) {
  try {
    lane.source->decode(picture);
  } catch (const InputError& error) {
    if (!may_be_skipped(lane.settings, picture)) throw;
    if (lane.passes == 1) note_(fmt::format("skipped: {}", error.what()));
    ++lane.skipped;
  }
  lane.number_on(picture);
  if (lanes_.size() == 1) return;
  picture.source = lane.number;
  picture.input = lane.settings.input.name;
}

void LiveInputs::end() {
  for (const auto& lane : lanes_)
    if (lane->reading) lane->reading->end();
  queue_.close();
  std::exception_ptr first;
  for (const auto& lane : lanes_) {
    if (!lane->reader) continue;
    try {
      lane->reader->wait();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

std::vector<double> LiveInputs::rates_fps() const {
  std::vector<double> rates;
  for (const auto& lane : lanes_) {
    const double own = lane->settings.input.rate_fps;
    rates.push_back(own > 0 ? own : lane->source->rate_fps());
  }
  return rates;
}

std::vector<InputTotals> LiveInputs::totals() const {
  std::vector<InputTotals> all;
  for (const auto& lane : lanes_) {
    InputTotals& totals = all.emplace_back();
    const Input& input = lane->settings.input;
    totals.name = input.name;
    totals.queue = queue_.counts(lane->number);
    totals.waiting = queue_.waiting(lane->number);
    totals.skipped = lane->skipped;
    totals.passes = lane->passes;
    if (!lane->reading) continue;
    totals.queue.put += lane->reading->skipped();
    totals.queue.dropped += lane->reading->skipped();
    if (lane->is_camera()) totals.gaps = lane->reading->gaps();  // others change their sources
  }
  return all;
}

}  // namespace millrace::application
