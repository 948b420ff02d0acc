// How long it takes to hand a token from one pinned thread to another: half a round trip over
// two channels. `--at-most-ns=N` makes the program fail if the median of the batches that had the
// cores to themselves is larger; other programs can only add time.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <thread>
#include <vector>

#include "board/board.h"
#include "runtime/channel.h"

namespace {

using millrace::Time;
using millrace::runtime::Channel;

/// ctest shows this exit code as "skipped".
constexpr int skipped = 77;

/// What this thread's core did for others since it was made: other programs, or other machines on
/// the same hardware where the hypervisor says so.
class Stolen {
 public:
  Time so_far() const { return std::max(Time::zero(), (wall() - wall_) - (running() - running_)); }

 private:
  static Time wall() { return std::chrono::steady_clock::now().time_since_epoch(); }
  static Time running() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }
  Time wall_ = wall(), running_ = running();
};

/// Answers every token that comes through `to` with one through `from`, on its own core.
class Partner {
 public:
  Partner(const millrace::board::Processor& processor, Time spin)
      : to(1, spin, spin), from(1, spin, spin), thread_([this, processor] { answer(processor); }) {}
  ~Partner() { finish(); }
  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;

  /// How much of its time was stolen.
  Time finish() {
    to.close();
    from.close();
    if (thread_.joinable()) thread_.join();
    return stolen_;
  }

  Channel to, from;

 private:
  void answer(const millrace::board::Processor& processor) {
    millrace::board::pin_this_thread(processor);
    const Stolen stolen;
    while (to.wait_for_token()) {
      to.pop();
      if (!from.wait_for_space()) break;
      from.push();
    }
    stolen_ = stolen.so_far();
  }
  Time stolen_{};
  std::thread thread_;
};

void round_trip(benchmark::State& state, Time spin) {
  const auto processors = millrace::board::this_machine().processors;
  const millrace::board::PinGuard guard(processors[0]);
  Partner partner(processors[1], spin);
  const auto exchange = [&] {
    partner.to.wait_for_space();
    partner.to.push();
    partner.from.wait_for_token();
    partner.from.pop();
  };
  exchange();  // the partner has started
  const Stolen stolen;
  for (auto _ : state) exchange();
  const Time from_us = stolen.so_far(), from_partner = partner.finish();
  state.counters["stolen_ns"] = static_cast<double>((from_us + from_partner).count());
}

/// Prints the summaries and keeps the times of the spinning batches.
class Collector : public benchmark::ConsoleReporter {
 public:
  using Run = BenchmarkReporter::Run;
  Collector() : ConsoleReporter(OO_None) {}
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration && run.run_name.function_name == "spinning") add(run);
    if (runs.front().run_type == Run::RT_Aggregate) ConsoleReporter::ReportRuns(runs);
  }
  /// Number of batches that had the cores to themselves.
  std::size_t undisturbed() const { return handovers_.size(); }
  double median() {
    std::sort(handovers_.begin(), handovers_.end());
    return handovers_[handovers_.size() / 2];
  }

 private:
  void add(const Run& run) {
    constexpr double most_stolen = 0.02;  // of the batch's time
    const double batch_ns = run.real_accumulated_time * 1e9;
    if (run.counters.at("stolen_ns") <= most_stolen * batch_ns)
      handovers_.push_back(run.GetAdjustedRealTime() / 2);
  }
  std::vector<double> handovers_;
};

/// The exit code.
int judge(Collector& collector, double limit) {
  if (collector.undisturbed() == 0) {
    fmt::print("other programs took the cores in every batch: nothing to judge\n");
    return limit > 0 ? skipped : 0;
  }
  fmt::print("channel hand-over: {:.1f} ns (median of {} undisturbed spinning batches)\n",
             collector.median(), collector.undisturbed());
  return limit > 0 && collector.median() > limit ? 1 : 0;
}

double limit_from(int& argc, char** argv) {
  constexpr std::string_view option = "--at-most-ns=";
  double limit = 0;
  char** end = std::remove_if(argv + 1, argv + argc, [&](const char* argument) {
    const bool ours = std::string_view(argument).substr(0, option.size()) == option;
    if (ours) limit = std::atof(argument + option.size());
    return ours;
  });
  argc = static_cast<int>(end - argv);
  return limit;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  const double limit = limit_from(argc, argv);
  if (millrace::board::this_machine().processors.size() < 2) {
    fmt::print("a hand-over needs two cores, this process may use one\n");
    return skipped;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  // Short batches, so that some fall between the turns of other programs.
  benchmark::RegisterBenchmark("spinning", round_trip, Time(1s))
      ->UseRealTime()
      ->Iterations(500)
      ->Repetitions(301);
  benchmark::RegisterBenchmark("sleeping", round_trip, Time(0))
      ->UseRealTime()
      ->Iterations(500)
      ->Repetitions(5);
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  return judge(collector, limit);
}
