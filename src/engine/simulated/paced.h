#pragma once
// Results by another engine, times by a function: for processors that are not on this machine.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/engine.h"
#include "engine/simulated/fed_core.h"

namespace millrace::engine::simulated {

/// What launching a run, and waiting for it, takes of a core.
struct Feeding {
  std::string core;  // empty: nothing
  Time time{};
  /// Where the core is one of this machine, on which a stage runs that is not simulated: there that
  /// time is really spent. Else the core's simulated runs wait for it.
  std::vector<int> cores_here = {};
  bool operator==(const Feeding&) const = default;
};

/// How long a run is to take; 0: as long as it takes.
struct RunTime {
  Time time{};
  Feeding feeding = {};

  RunTime(Time run_time = {}, Feeding of_core = {})  // NOLINT: a time is one without feeding
      : time(run_time), feeding(std::move(of_core)) {}
  bool operator==(const RunTime&) const = default;
};
using SubnetTime = std::function<RunTime(const SubnetRequest&)>;

/// A subnet's computation here beside its modelled time.
struct Pace {
  const network::Network* network = nullptr;
  std::string processor;
  std::vector<LayerId> layers;
  Time modelled{}, computing{};     // of a run, in the mean
  std::int64_t runs = 0, late = 0;  // late: computing took longer than modelled
};

/// Computes each subnet with the engine that it is given, on the thread that runs it, then waits
/// until its modelled time has passed since it began. Threads that wait need no core. A run that
/// ends too late, by up to 20 ms, gives the next one on its processor less time, if that follows at
/// once: so the rate is the modelled one although a system wakes threads late. A run on a device
/// takes its feeding off its core from its begin on, before what the core's stage does.
class PacedEngine final : public Engine {
 public:
  /// `computing` prepares every subnet for `host`; borrowed.
  PacedEngine(Engine& computing, board::Processor host, SubnetTime time)
      : computing_(computing), host_(std::move(host)), time_(std::move(time)) {}

  std::string name() const override { return "simulated"; }
  std::string version() const override { return "1, computed by " + computing_.name(); }
  std::optional<Traits> traits(const board::Processor&) const override {
    Traits traits;
    traits.uses_cores = false;
    return traits;
  }
  using Engine::supports;
  Verdict supports(const network::Network& network, std::span<const LayerId> layers,
                   const board::Processor&) const override {
    return computing_.supports(network, layers, host_);
  }
  std::vector<board::Variant> variants(const network::Network& network, LayerId layer,
                                       const board::Processor&) const override {
    return computing_.variants(network, layer, host_);
  }
  /// All memory spaces are the host's memory here, and transfers copy within it.
  std::unique_ptr<Subnet> prepare(const SubnetRequest& request) override;

  /// Does some other work on the processor, as a run of a subnet that takes so long: in turns with
  /// them if it is no core. Says how long that is at the processor's clock.
  using Pacer = std::function<Time(Time modelled, const std::function<void()>& work)>;
  Pacer pacer(const board::Processor& processor);

  /// From now on, runs on the processor take so many times as long as modelled: its clock is lower.
  /// Allocates memory for a processor that is new to it. Any thread.
  void set_slowdown(const std::string& processor, double slowdown);

  /// Pace of all subnets that were prepared and have run; any thread.
  std::vector<Pace> paces() const;
  /// What has run until now counts there no more. While nothing runs.
  void forget_runs();

  /// What a subnet tells the engine. Each number is written by one thread.
  struct Record {
    const network::Network* network = nullptr;
    std::string processor;
    std::vector<LayerId> layers;
    Time modelled{};
    std::atomic<std::int64_t> runs{0}, late{0}, modelled_ns{0}, computing_ns{0};
  };
  /// For one processor: when its last run was to end, and when it did. No memory depends on them.
  struct Wake {
    std::atomic<std::int64_t> due_ns{0}, awake_ns{0};
    std::atomic<double> slowdown{1};
    FedCore launching;  // of a core
    // Runs on what is no core take turns, in the order in which they come.
    std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t next_turn = 0, turn = 0;  // guarded by the mutex
  };

 private:
  Engine& computing_;
  board::Processor host_;
  SubnetTime time_;
  std::unique_ptr<Subnet> computed(const SubnetRequest& request);
  std::shared_ptr<Wake> wake_of(const std::string& processor);

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Record>> records_;        // sharers: the subnets
  std::map<std::string, std::shared_ptr<Wake>> wakes_;  // by processor; sharers: the subnets
};

}  // namespace millrace::engine::simulated
