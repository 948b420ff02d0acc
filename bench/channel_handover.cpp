// How long it takes to hand a token from one pinned thread to another: half a round trip over
// two channels. `--at-most-ns=N` makes the program fail if even its fastest batch takes longer:
// other programs on these cores can only add time, and then the median is theirs, not ours.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
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

/// Answers every token that comes through `to` with one through `from`, on its own core.
class Partner {
 public:
  Partner(const millrace::board::Processor& processor, Time spin)
      : to(1, spin, spin), from(1, spin, spin), thread_([this, processor] { answer(processor); }) {}
  ~Partner() {
    to.close();
    from.close();
    thread_.join();
  }
  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;

  Channel to, from;

 private:
  void answer(const millrace::board::Processor& processor) {
    millrace::board::pin_this_thread(processor);
    while (to.wait_for_token()) {
      to.pop();
      if (!from.wait_for_space()) return;
      from.push();
    }
  }
  std::thread thread_;
};

void round_trip(benchmark::State& state, Time spin) {
  const auto processors = millrace::board::this_machine().processors;
  const millrace::board::PinGuard guard(processors[0]);
  Partner partner(processors[1], spin);
  for (auto _ : state) {
    partner.to.wait_for_space();
    partner.to.push();
    partner.from.wait_for_token();
    partner.from.pop();
  }
}

/// Prints as usual and keeps the times of the spinning batches.
class Collector : public benchmark::ConsoleReporter {
 public:
  Collector() : ConsoleReporter(OO_None) {}
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration && run.run_name.function_name == "spinning")
        handovers_.push_back(run.GetAdjustedRealTime() / 2);
    ConsoleReporter::ReportRuns(runs);
  }
  /// Of the times in order, the one at this share of the way; 0 if there are none.
  double quantile(double share) {
    std::sort(handovers_.begin(), handovers_.end());
    const auto last = static_cast<double>(handovers_.size()) - 1;
    return last < 0 ? 0 : handovers_[static_cast<std::size_t>(share * last)];
  }

 private:
  std::vector<double> handovers_;
};

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
  benchmark::RegisterBenchmark("spinning", round_trip, Time(1s))
      ->UseRealTime()->MinTime(0.02)->Repetitions(21);
  benchmark::RegisterBenchmark("sleeping", round_trip, Time(0))
      ->UseRealTime()->MinTime(0.02)->Repetitions(5);
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  fmt::print("channel hand-over: {:.1f} ns (median of the spinning batches), fastest {:.1f} ns\n",
             collector.quantile(0.5), collector.quantile(0));
  return limit > 0 && collector.quantile(0) > limit ? 1 : 0;
}
