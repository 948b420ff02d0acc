#include "runtime/stage_times.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <limits>
#include <numeric>

#include "network/random_values.h"
#include "runtime/maybe_pinned.h"
#include "runtime/preparation.h"
#include "runtime/slots.h"
#include "runtime/waiting/counter.h"

namespace millrace::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int warmup = 1;

std::int64_t capacity_of(const plan::Plan& plan, const engine::Port& port) {
  std::int64_t capacity = 1;
  for (const plan::Channel& channel : plan.channels)
    if (channel.tensor == port.tensor && channel.space == port.layout.space)
      capacity = std::max(capacity, channel.capacity);
  return capacity;
}

/// What fills the slots of a port with random numbers, wherever they lie.
class Filling {
 public:
  Filling(const network::Network& network, engine::Engine& engine)
      : network_(network), engine_(engine) {}

  void fill(Slots& slots, const engine::Port& port) {
    if (!port.layout.space.empty()) return fill_on_device(slots, port);
    for (std::int64_t frame = 0; frame < slots.capacity(); ++frame)
      numbers_into(slots.of(frame), port);
  }

 private:
  void fill_on_device(Slots& slots, const engine::Port& port) {
    network::Buffer here(port.layout.size);
    const auto transfer = engine_.prepare(
        engine::transfer_request(network_, {}, port.tensor, {"", port.layout.space}));
    for (std::int64_t frame = 0; frame < slots.capacity(); ++frame) {
      numbers_into(here.data(), port);
      const std::byte* const in = here.data();
      std::byte* const out = slots.of(frame);
      transfer->run({&in, 1}, {&out, 1});
    }
  }
  void numbers_into(std::byte* memory, const engine::Port& port) {
    network::fill_random({memory, static_cast<std::size_t>(port.layout.size.count)},
                         network_[port.tensor].type, random_);
  }

  const network::Network& network_;
  engine::Engine& engine_;
  Random random_{1};
};

/// A phase with slots of its own, as many as it has in the pipeline: what a frame leaves in a cache
/// helps the next one no more than there.
class PhaseTrial {
 public:
  PhaseTrial(engine::Subnet& subnet, const plan::Plan& plan, const network::Network& network,
             engine::Engine& engine)
      : subnet_(subnet) {
    Filling filling(network, engine);
    const auto slots_for = [&](const engine::Port& port) {
      return make_slots(network[port.tensor].name, port.layout, capacity_of(plan, port), subnet);
    };
    for (const engine::Port& port : subnet.inputs()) {
      inputs_.push_back(slots_for(port));
      filling.fill(inputs_.back(), port);
    }
    for (const engine::Port& port : subnet.outputs()) outputs_.push_back(slots_for(port));
  }

  Time run() {
    std::vector<const std::byte*> in;
    std::vector<std::byte*> out;
    for (Slots& slots : inputs_) in.push_back(slots.of(frame_));
    for (Slots& slots : outputs_) out.push_back(slots.of(frame_));
    ++frame_;
    const auto start = Clock::now();
    subnet_.run(in, out);
    return Clock::now() - start;
  }

 private:
  engine::Subnet& subnet_;
  std::vector<Slots> inputs_, outputs_;  // in the order of the subnet's ports
  std::int64_t frame_ = 0;
};

/// Lets each of several threads run a frame when no other is more than `lead` behind it.
class Lockstep {
 public:
  Lockstep(std::size_t threads, std::int64_t lead) : lead_(lead), done_(threads) {}

  /// Returns at once when somebody has ended.
  void wait_for_others(std::int64_t frame) const {
    const auto is_near = [&](const auto& done) {
      return done.load(std::memory_order_relaxed) >= frame - lead_;
    };
    while (!spin_until(
        [&] { return has_ended() || std::all_of(done_.begin(), done_.end(), is_near); }, pause)) {
    }
  }
  void add_frame(std::size_t thread) { done_[thread].fetch_add(1, std::memory_order_relaxed); }
  void end() { ended_.store(true, std::memory_order_relaxed); }
  bool has_ended() const { return ended_.load(std::memory_order_relaxed); }

 private:
  static constexpr Time pause = std::chrono::milliseconds(1);

  const std::int64_t lead_;
  std::vector<std::atomic<std::int64_t>> done_;  // frames, by thread
  std::atomic<bool> ended_{false};
};

}  // namespace

struct StageTrials::Stage {
  const schedule::Actor* actor;
  bool pin;
  PreparedActor prepared;
  std::vector<PhaseTrial> phases;

  /// Adds the time of each phase to `spent`.
  void run(std::vector<Time>& spent) {
    for (std::size_t p = 0; p < phases.size(); ++p) spent[p] += phases[p].run();
  }
  /// The same of those that have something to do at this frame.
  void run(std::int64_t frame, StageTimes& times) {
    for (std::size_t p = 0; p < phases.size(); ++p)
      if (actor->begins_batch(p, frame)) {
        const Time time = phases[p].run();
        times.phases[p] += time;
        times.firings[p].push_back(time);
      }
  }
};

StageTrials::StageTrials(const plan::Plan& plan, const network::Network& network,
                         const std::map<std::string, engine::Engine*>& engines)
    : schedule_(schedule::compile(plan)) {
  std::vector<PreparedActor> prepared = prepare({plan, network, engines}, schedule_, true);
  for (std::size_t a = 0; a < prepared.size(); ++a) {
    const schedule::Actor& actor = schedule_.actors[a];
    engine::Engine& engine = engine_of(plan.stages[actor.stage], engines);
    const bool pin = binds_threads(engine, actor.processor);
    auto stage = std::make_unique<Stage>(Stage{&actor, pin, std::move(prepared[a]), {}});
    const MaybePinned pinned(actor.processor, pin);
    for (const PreparedPhase& phase : stage->prepared)
      stage->phases.emplace_back(*phase.subnet, plan, network, engine);
    std::vector<Time> ignored(stage->phases.size());
    for (int i = 0; i < warmup; ++i) stage->run(ignored);
    stages_.push_back(std::move(stage));
  }
}

StageTrials::~StageTrials() = default;

std::size_t StageTrials::count() const { return stages_.size(); }

Time StageTrials::run_once(std::size_t stage, std::size_t phase) {
  return stages_[stage]->phases[phase].run();
}

StageTimes StageTrials::run(std::size_t number, Time duration) {
  Stage& stage = *stages_[number];
  const MaybePinned pinned(stage.actor->processor, stage.pin);
  StageTimes result{std::vector<Time>(stage.phases.size())};
  std::int64_t runs = 0;
  for (; runs == 0 || result.total() < duration; ++runs) stage.run(result.phases);
  for (std::size_t p = 0; p < stage.phases.size(); ++p)
    result.phases[p] /= runs * stage.actor->phases[p].batch;
  return result;
}

std::vector<StageTimes> StageTrials::run_together(Time duration) {
  const auto end = Clock::now() + duration;
  const std::int64_t round = schedule_.round;
  Lockstep lockstep(count(),
                    schedule_.first_free ? std::numeric_limits<std::int64_t>::max() : round - 1);
  const auto run_one = [&](std::size_t number) {
    Stage& stage = *stages_[number];
    const MaybePinned pinned(stage.actor->processor, stage.pin);
    const auto none = [&] {
      const std::size_t phases = stage.phases.size();
      return StageTimes{std::vector<Time>(phases), std::vector<std::vector<Time>>(phases)};
    };
    StageTimes result = none();
    std::int64_t frame = 0;
    for (;; ++frame) {
      lockstep.wait_for_others(frame);
      const bool is_over = lockstep.has_ended() || Clock::now() >= end;
      if (is_over && frame > round && frame % round == 0) break;
      if (frame == round) result = none();
      stage.run(frame, result);
      lockstep.add_frame(number);
    }
    lockstep.end();
    for (Time& time : result.phases) time /= (frame - round) / stage.actor->frames.step;
    return result;
  };
  std::vector<std::future<StageTimes>> running;
  for (std::size_t s = 0; s < count(); ++s)
    running.push_back(std::async(std::launch::async, [&, s] {
      try {
        return run_one(s);
      } catch (...) {
        lockstep.end();
        throw;
      }
    }));
  std::vector<StageTimes> result;
  for (std::future<StageTimes>& one : running) result.push_back(one.get());
  return result;
}

Time StageTimes::total() const { return std::accumulate(phases.begin(), phases.end(), Time{}); }

}  // namespace millrace::runtime
