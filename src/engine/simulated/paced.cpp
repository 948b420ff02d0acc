#include "engine/simulated/paced.h"

#include <sys/prctl.h>

#include <chrono>
#include <condition_variable>

namespace millrace::engine::simulated {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

/// A run that begins so soon after the last one did not wait for its inputs.
constexpr Time at_once = microseconds(50);
/// A run that is later than this was not woken late: the machine is too slow, which is to be seen.
constexpr Time longest_lateness = std::chrono::milliseconds(20);

std::int64_t nanoseconds(Clock::time_point time) {
  return std::chrono::duration_cast<Time>(time.time_since_epoch()).count();
}
Clock::time_point time_point(std::int64_t nanoseconds) {
  return Clock::time_point(Time(nanoseconds));
}

/// Asks the system to wake this thread when its time has come, and not some 50 microseconds later,
/// together with others. It only saves power to do otherwise, so a refusal does not matter.
void wake_in_time() { ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

void wait_until(Clock::time_point end) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  wake_in_time();
  never.wait_until(lock, end, [&] { return Clock::now() >= end; });
}

/// Waits for its turn on a processor, and gives it to the next one.
class Turn {
 public:
  explicit Turn(PacedEngine::Wake* processor) : processor_(processor) {
    if (processor_ == nullptr) return;
    std::unique_lock lock(processor_->mutex);
    const std::uint64_t mine = processor_->next_turn++;
    processor_->changed.wait(lock, [&] { return processor_->turn == mine; });
  }
  ~Turn() {
    if (processor_ == nullptr) return;
    const std::lock_guard lock(processor_->mutex);
    ++processor_->turn;
    processor_->changed.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  PacedEngine::Wake* processor_;  // null: no turns
};

class PacedSubnet final : public Subnet {
 public:
  PacedSubnet(std::unique_ptr<Subnet> computed, std::shared_ptr<PacedEngine::Record> record,
              std::shared_ptr<PacedEngine::Wake> wake, bool takes_turns)
      : computed_(std::move(computed)),
        record_(std::move(record)),
        wake_(std::move(wake)),
        takes_turns_(takes_turns) {}

  std::span<const Port> inputs() const override { return computed_->inputs(); }
  std::span<const Port> outputs() const override { return computed_->outputs(); }
  Memory memory() const override { return computed_->memory(); }

  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override {
    paced([&] { computed_->run(in, out); });
  }
  std::vector<GroupTime> run_timed(std::span<const std::byte* const> in,
                                   std::span<std::byte* const> out) override {
    std::vector<GroupTime> groups;
    paced([&] { groups = computed_->run_timed(in, out); });
    stretch(groups);
    return groups;
  }

 private:
  template <class Compute>
  void paced(Compute compute) {
    const Turn turn(takes_turns_ ? wake_.get() : nullptr);
    const auto began = Clock::now();
    compute();
    const auto computed = Clock::now();
    if (record_->modelled == Time{}) return;
    const auto due = start_of(began) + modelled();
    note(computed - began);
    if (computed < due) wait_until(due);
    wake_->due_ns = nanoseconds(due);
    wake_->awake_ns = nanoseconds(Clock::now());
  }

  /// At the clock of now.
  Time modelled() const {
    const double slowdown = wake_->slowdown;
    return slowdown == 1 ? record_->modelled
                         : time_from_seconds(seconds(record_->modelled) * slowdown);
  }

  /// When the run would have begun if the last one had ended in time.
  Clock::time_point start_of(Clock::time_point began) const {
    const auto due = time_point(wake_->due_ns), awake = time_point(wake_->awake_ns);
    const bool follows = began - awake < at_once && awake - due < longest_lateness;
    return follows ? began - (awake - due) : began;
  }

  void note(Time computing) {
    ++record_->runs;
    record_->late += computing > modelled() ? 1 : 0;
    record_->computing_ns += computing.count();
  }

  /// In the same proportions, to the modelled time.
  void stretch(std::vector<GroupTime>& groups) const {
    Time sum{};
    for (const GroupTime& group : groups) sum += group.time;
    if (sum <= Time{} || record_->modelled == Time{}) return;
    const double factor = seconds(modelled()) / seconds(sum);
    for (GroupTime& group : groups) group.time = time_from_seconds(seconds(group.time) * factor);
  }

  std::unique_ptr<Subnet> computed_;
  std::shared_ptr<PacedEngine::Record> record_;  // sharer: the engine
  std::shared_ptr<PacedEngine::Wake> wake_;      // sharers: the engine, the processor's subnets
  const bool takes_turns_;
};

}  // namespace

std::unique_ptr<Subnet> PacedEngine::prepare(const SubnetRequest& request) {
  auto record = std::make_shared<Record>();
  record->processor = request.processor.name;
  record->layers = request.layers;
  record->modelled = time_(request);
  SubnetRequest here = request;
  here.processor = host_;
  auto computed = computing_.prepare(here);
  const std::lock_guard lock(mutex_);
  auto& wake = wakes_[request.processor.name];
  if (!wake) wake = std::make_shared<Wake>();
  records_.push_back(record);
  return std::make_unique<PacedSubnet>(std::move(computed), std::move(record), wake,
                                       request.processor.kind != board::ProcessorKind::cpu);
}

bool PacedEngine::set_slowdown(const std::string& processor, double slowdown) {
  const std::lock_guard lock(mutex_);
  const auto found = wakes_.find(processor);
  if (found == wakes_.end()) return false;
  found->second->slowdown = slowdown;
  return true;
}

std::vector<Pace> PacedEngine::paces() const {
  const std::lock_guard lock(mutex_);
  std::vector<Pace> paces;
  for (const auto& record : records_) {
    const std::int64_t runs = record->runs;
    if (runs == 0) continue;
    paces.push_back({record->processor, record->layers, record->modelled,
                     Time(record->computing_ns / runs), runs, record->late});
  }
  return paces;
}

}  // namespace millrace::engine::simulated
