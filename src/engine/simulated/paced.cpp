#include "engine/simulated/paced.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>

#include "board/board.h"
#include "engine/request.h"

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

Time thread_time() {
  ::timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + Time(now.tv_nsec);
}

/// What launching takes of a core of this machine.
void spend(Time time, const std::vector<int>& cores) {
  const board::PinGuard here({"feeding core", board::ProcessorKind::cpu, cores});
  for (const auto end = thread_time() + time; thread_time() < end;) {
  }
}

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

/// One run on a processor, from now on.
class Pacing {
 public:
  Pacing(PacedEngine::Wake& processor, Time modelled)
      : processor_(processor), modelled_(at_clock(modelled)), began_(Clock::now()) {
    launched_ = processor_.launching.begin(began_);
  }
  ~Pacing() { processor_.launching.end(); }
  Pacing(const Pacing&) = delete;
  Pacing& operator=(const Pacing&) = delete;

  /// At the clock of its begin.
  Time modelled() const { return modelled_; }
  Clock::time_point began() const { return began_; }
  /// Waits until its time has passed, and that of what the core launches meanwhile.
  void end() const {
    const auto alone = start() + modelled_;
    auto due = alone + processor_.launching.since(launched_);
    while (Clock::now() < due) {
      wait_until(due);
      due = alone + processor_.launching.since(launched_);
    }
    processor_.due_ns = nanoseconds(due);
    processor_.awake_ns = nanoseconds(Clock::now());
  }

 private:
  Time at_clock(Time modelled) const {
    const double slowdown = processor_.slowdown;
    return slowdown == 1 ? modelled : time_from_seconds(seconds(modelled) * slowdown);
  }

  /// When it would have begun if the last one had ended in time.
  Clock::time_point start() const {
    const auto due = time_point(processor_.due_ns), awake = time_point(processor_.awake_ns);
    const bool follows = began_ - awake < at_once && awake - due < longest_lateness;
    return follows ? began_ - (awake - due) : began_;
  }

  PacedEngine::Wake& processor_;
  const Time modelled_;
  const Clock::time_point began_;
  Time launched_{};
};

class PacedSubnet final : public Subnet {
 public:
  PacedSubnet(std::unique_ptr<Subnet> computed, std::shared_ptr<PacedEngine::Record> record,
              std::shared_ptr<PacedEngine::Wake> wake, bool takes_turns)
      : computed_(std::move(computed)),
        record_(std::move(record)),
        wake_(std::move(wake)),
        takes_turns_(takes_turns) {}

  /// `core`: null where the core is one of this machine.
  void set_feeder(Feeding feeding, std::shared_ptr<PacedEngine::Wake> core) {
    feeding_ = std::move(feeding);
    core_ = std::move(core);
  }

  std::span<const Port> inputs() const override { return computed_->inputs(); }
  std::span<const Port> outputs() const override { return computed_->outputs(); }
  Memory memory() const override { return computed_->memory(); }
  std::shared_ptr<std::byte> allocate(const Layout& layout) override {
    const auto memory = std::make_shared<network::Buffer>(layout.size);
    return {memory, memory->data()};
  }

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
    const Pacing pacing(*wake_, record_->modelled);
    feed(pacing.began());
    compute();
    if (record_->modelled == Time{}) return;
    note(Clock::now() - pacing.began(), pacing.modelled());
    modelled_ = pacing.modelled();
    pacing.end();
  }

  void feed(Clock::time_point began) const {
    if (core_)
      core_->launching.feed(feeding_.time, began);
    else if (!feeding_.cores_here.empty())
      spend(feeding_.time, feeding_.cores_here);
  }

  void note(Time computing, Time modelled) {
    ++record_->runs;
    record_->late += computing > modelled ? 1 : 0;
    record_->modelled_ns += modelled.count();
    record_->computing_ns += computing.count();
  }

  /// In the same proportions, to the modelled time.
  void stretch(std::vector<GroupTime>& groups) const {
    Time sum{};
    for (const GroupTime& group : groups) sum += group.time;
    if (sum <= Time{} || record_->modelled == Time{}) return;
    const double factor = seconds(modelled_) / seconds(sum);
    for (GroupTime& group : groups) group.time = time_from_seconds(seconds(group.time) * factor);
  }

  std::unique_ptr<Subnet> computed_;
  std::shared_ptr<PacedEngine::Record> record_;  // sharer: the engine
  std::shared_ptr<PacedEngine::Wake> wake_;      // sharers: the engine, the processor's subnets
  const bool takes_turns_;
  Feeding feeding_;
  std::shared_ptr<PacedEngine::Wake> core_;  // that feeds; sharers: the engine, its subnets
  Time modelled_{};                          // of the last run
};

/// A subnet whose ports say in which memory spaces they would lie.
class InSpaces final : public Subnet {
 public:
  InSpaces(std::unique_ptr<Subnet> computed, const SubnetRequest& request)
      : computed_(std::move(computed)),
        inputs_(request.inputs),
        outputs_(computed_->outputs().begin(), computed_->outputs().end()) {
    for (std::size_t i = 0; i < request.spaces.size(); ++i)
      outputs_[i].layout.space = request.spaces[i];
  }
  std::span<const Port> inputs() const override { return inputs_; }
  std::span<const Port> outputs() const override { return outputs_; }
  Memory memory() const override { return computed_->memory(); }
  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override {
    computed_->run(in, out);
  }
  std::vector<GroupTime> run_timed(std::span<const std::byte* const> in,
                                   std::span<std::byte* const> out) override {
    return computed_->run_timed(in, out);
  }

 private:
  std::unique_ptr<Subnet> computed_;
  std::vector<Port> inputs_, outputs_;
};

/// A transfer within the host's memory.
class Copy final : public Subnet {
 public:
  explicit Copy(const SubnetRequest& request)
      : in_(request.inputs[0]), out_(plain_outputs(request)[0]) {}
  std::span<const Port> inputs() const override { return {&in_, 1}; }
  std::span<const Port> outputs() const override { return {&out_, 1}; }
  Memory memory() const override { return {}; }
  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override {
    std::copy_n(in[0], in_.layout.size.count, out[0]);
  }
  std::vector<GroupTime> run_timed(std::span<const std::byte* const> in,
                                   std::span<std::byte* const> out) override {
    const auto start = Clock::now();
    run(in, out);
    return {{{}, "copy", Clock::now() - start}};
  }

 private:
  Port in_, out_;
};

}  // namespace

std::unique_ptr<Subnet> PacedEngine::computed(const SubnetRequest& request) {
  if (request.is_transfer) return std::make_unique<Copy>(request);
  SubnetRequest here = request;
  here.processor = host_;
  here.spaces.clear();
  for (Port& port : here.inputs) port.layout.space.clear();
  auto subnet = computing_.prepare(here);
  if (!is_in_a_space(request)) return subnet;
  return std::make_unique<InSpaces>(std::move(subnet), request);
}

std::unique_ptr<Subnet> PacedEngine::prepare(const SubnetRequest& request) {
  auto record = std::make_shared<Record>();
  record->network = request.network;
  record->processor = request.processor.name;
  record->layers = request.layers;
  RunTime run_time = time_(request);
  record->modelled = run_time.time;
  auto computed = this->computed(request);
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<Wake> wake = wake_of(request.processor.name);
  records_.push_back(record);
  auto subnet = std::make_unique<PacedSubnet>(std::move(computed), std::move(record), wake,
                                              request.processor.kind != board::ProcessorKind::cpu);
  const std::string& core = run_time.feeding.core;
  const bool is_simulated = !core.empty() && run_time.feeding.cores_here.empty();
  subnet->set_feeder(run_time.feeding, is_simulated ? wake_of(core) : nullptr);
  return subnet;
}

/// Precondition: the mutex is locked.
std::shared_ptr<PacedEngine::Wake> PacedEngine::wake_of(const std::string& processor) {
  auto& wake = wakes_[processor];
  if (!wake) wake = std::make_shared<Wake>();
  return wake;
}

PacedEngine::Pacer PacedEngine::pacer(const board::Processor& processor) {
  const std::lock_guard lock(mutex_);
  const bool takes_turns = processor.kind != board::ProcessorKind::cpu;
  return [wake = wake_of(processor.name), takes_turns](Time modelled,
                                                       const std::function<void()>& work) {
    const Turn turn(takes_turns ? wake.get() : nullptr);
    const Pacing pacing(*wake, modelled);
    work();
    pacing.end();
    return pacing.modelled();
  };
}

void PacedEngine::set_slowdown(const std::string& processor, double slowdown) {
  const std::lock_guard lock(mutex_);
  wake_of(processor)->slowdown = slowdown;
}

std::vector<Pace> PacedEngine::paces() const {
  const std::lock_guard lock(mutex_);
  std::vector<Pace> paces;
  for (const auto& record : records_) {
    const std::int64_t runs = record->runs;
    if (runs == 0) continue;
    paces.push_back({record->network, record->processor, record->layers,
                     Time(record->modelled_ns / runs), Time(record->computing_ns / runs), runs,
                     record->late});
  }
  return paces;
}

void PacedEngine::forget_runs() {
  const std::lock_guard lock(mutex_);
  for (const auto& record : records_)
    record->runs = record->late = record->modelled_ns = record->computing_ns = 0;
}

}  // namespace millrace::engine::simulated
