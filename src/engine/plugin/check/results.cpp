#include "engine/plugin/check/results.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>

#include "engine/plugin/devices.h"
#include "engine/tolerance.h"
#include "network/evaluate/evaluate.h"

namespace millrace::engine::plugin::check {
namespace {

using Clock = std::chrono::steady_clock;

bool same_bytes(const Results& a, const Results& b) {
  return std::ranges::equal(a, b, [](const network::Array& x, const network::Array& y) {
    return std::ranges::equal(x.bytes(), y.bytes());
  });
}

/// Over the largest value; infinite where one is no number, or integers differ.
double difference(const Results& found, const Results& expected) {
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].type != network::DataType::float32) {
      if (!std::ranges::equal(found[i].bytes(), expected[i].bytes())) return INFINITY;
      continue;
    }
    const auto a = found[i].values<float>(), b = expected[i].values<float>();
    for (std::size_t j = 0; j < a.size(); ++j) {
      const double each = std::fabs(static_cast<double>(a[j]) - static_cast<double>(b[j]));
      if (!std::isfinite(each)) return INFINITY;
      difference = std::max(difference, each);
      largest = std::max(largest, std::fabs(static_cast<double>(b[j])));
    }
  }
  return largest == 0 ? difference : difference / largest;
}

/// In the precision that the programs have here: the device's first.
bool is_right(const Bench& bench, const Results& found, const Results& expected) {
  return difference(found, expected) <= tolerance_in(precisions_of(bench.device).front());
}

/// Whether the memory becomes right within a second, although run() is over.
bool becomes_right(const Bench& bench, const Program& program, const Results& expected) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  const auto is_it = [&] { return is_right(bench, program.results(), expected); };
  for (int i = 0; i < 100 && !is_it(); ++i) never.wait_for(lock, std::chrono::milliseconds(10));
  return is_it();
}

std::size_t heap() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::size_t entries_of(const char* folder) {
  return static_cast<std::size_t>(std::ranges::distance(
      std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

double milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// A thread that says that a run is done ends a moment later.
bool has_more_threads_than(std::size_t threads) {
  const auto until = Clock::now() + std::chrono::milliseconds(500);
  while (entries_of("/proc/self/task") > threads) {
    if (Clock::now() > until) return true;
    std::this_thread::yield();
  }
  return false;
}

/// Bytes that `work` leaves in the heap in so many turns, after some that fill its caches.
template <class Work>
void expect_no_leak(const Bench& bench, const std::string& what, int turns, const Work& work) {
  constexpr std::ptrdiff_t allowed = 4096;  // for all turns: caches of others
  bench.teller.at(what);
  for (int i = 0; i < 10; ++i) work();
  const std::size_t before = heap(), threads = entries_of("/proc/self/task"),
                    files = entries_of("/proc/self/fd");
  for (int i = 0; i < turns; ++i) {
    bench.teller.at(what);
    work();
  }
  const auto grown = static_cast<std::ptrdiff_t>(heap()) - static_cast<std::ptrdiff_t>(before);
  if (grown > allowed)
    bench.teller.fault(fmt::format("leak: {} left {} bytes in {} turns", what, grown, turns));
  if (has_more_threads_than(threads))
    bench.teller.fault(fmt::format("leak: {} left threads behind", what));
  if (entries_of("/proc/self/fd") > files)
    bench.teller.fault(fmt::format("leak: {} left files open", what));
}

}  // namespace

void check_results(const Bench& bench, const Case& test) {
  bench.teller.at("load() of " + test.name);
  Program program(bench.instance, bench.device, test);
  if (const std::string fault = program.wrong_shapes(); !fault.empty())
    return bench.teller.fault(fmt::format("wrong shape: {}: {}", test.name, fault));
  const auto inputs = inputs_of(test.network, 1), others = inputs_of(test.network, 2);
  const Results expected = network::evaluate(test.network, inputs);
  bench.teller.at("run() of " + test.name);
  program.run(inputs);
  const Results first = program.results();
  const bool is_wrong = !is_right(bench, first, expected);
  if (is_wrong && becomes_right(bench, program, expected))
    return bench.teller.fault(fmt::format(
        "late event: {}: the outputs were written after run() had returned", test.name));
  if (is_wrong)
    return bench.teller.fault(
        fmt::format("wrong result: {}: it differs by {:.2g} of the largest value", test.name,
                    difference(first, expected)));
  for (int i = 0; i < 5; ++i) {
    bench.teller.at("another run() of " + test.name);
    program.run(inputs);
    if (!same_bytes(program.results(), first))
      return bench.teller.fault(fmt::format(
          "non-determinism: {}: the same inputs gave other bytes", test.name));
  }
  program.run(others);
  bench.teller.at("run() of " + test.name + " after other inputs");
  program.run(inputs);
  if (!same_bytes(program.results(), first))
    return bench.teller.fault(
        fmt::format("non-determinism: {}: results depend on the run before", test.name));
  if (program.events_too_many() > 0)
    return bench.teller.fault(
        fmt::format("late event: {}: done() was called twice for one run", test.name));
  if (program.wrote_beyond())
    return bench.teller.fault("wrong shape: " + test.name + ": it wrote beyond its outputs");
  bench.teller.say(test.name);
}

void check_threads(const Bench& bench, const Case& test) {
  constexpr std::size_t thread_count = 4;
  constexpr int turns = 100;
  bench.teller.at("threads of " + test.name);
  std::atomic<int> wrong{0};
  std::barrier start(static_cast<std::ptrdiff_t>(thread_count));
  const auto work = [&](std::size_t number) {
    try {
      Program program(bench.instance, bench.device, test);
      const auto inputs = inputs_of(test.network, number + 1);
      const Results expected = network::evaluate(test.network, inputs);
      start.arrive_and_wait();
      for (int i = 0; i < turns; ++i) {
        if (number == 0) bench.teller.at("threads of " + test.name);
        program.run(inputs);
        if (!is_right(bench, program.results(), expected)) ++wrong;
      }
    } catch (const std::exception& error) {
      bench.teller.fault(fmt::format("race: {}: {}", test.name, error.what()));
      start.arrive_and_drop();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < thread_count; ++i) threads.emplace_back(work, i);
  }
  if (wrong > 0)
    bench.teller.fault(
        fmt::format("race: {}: {} of {} results of {} programs in parallel were wrong", test.name,
                    wrong.load(), turns * static_cast<int>(thread_count), thread_count));
}

void check_leaks(const Bench& bench, const Case& test) {
  const auto inputs = inputs_of(test.network, 1);
  const SubnetView view = view_of(test, bench.device, bench.instance);
  expect_no_leak(bench, "can_run() of " + test.name, 100,
                 [&] { ask(bench.instance, bench.device, view); });
  expect_no_leak(bench, "load() and unload() of " + test.name, 50,
                 [&] { Program(bench.instance, bench.device, test); });
  Program program(bench.instance, bench.device, test);
  expect_no_leak(bench, "run() of " + test.name, 200, [&] { program.run(inputs); });
}

void check_memory(const Bench& bench, const Case& test) {
  constexpr double slack = 256 * 1024;
  bench.teller.at("memory of " + test.name);
  { Program(bench.instance, bench.device, test); }  // fills caches
  const std::size_t before = heap();
  Program program(bench.instance, bench.device, test);
  program.run(inputs_of(test.network, 1));
  const double held = static_cast<double>(heap()) - static_cast<double>(before) -
                      static_cast<double>(program.own_bytes());
  const auto told = static_cast<double>(program.told_bytes());
  if (held > 2 * told + slack || told > 4 * std::max(held, 0.0) + 64 * slack)
    bench.teller.fault(fmt::format("memory: {}: it says {:.0f} KiB and holds {:.0f} KiB", test.name,
                                   told / 1024, held / 1024));
}

void check_times(const Bench& bench, const Case& test) {
  bench.teller.at("times of " + test.name);
  const auto begin = Clock::now();
  Program program(bench.instance, bench.device, test);
  const auto loaded = Clock::now() - begin;
  const auto inputs = inputs_of(test.network, 1);
  std::vector<MillraceLayerTime> times(test.network.layers.size());
  std::vector<double> runs;
  for (int i = 0; i < 20; ++i) {
    bench.teller.at("a timed run of " + test.name);  // each may take the limit
    const auto start = Clock::now();
    program.run(inputs, bench.device.times_layers ? times.data() : nullptr);
    runs.push_back(milliseconds(Clock::now() - start));
    double sum = 0;
    for (const MillraceLayerTime& time : times) sum += static_cast<double>(time.nanoseconds) * 1e-6;
    if (sum > 1.05 * runs.back() + 0.05)
      return bench.teller.fault(
          fmt::format("times: {}: its layers take {:.3f} ms in a run of {:.3f} ms", test.name, sum,
                      runs.back()));
  }
  std::ranges::nth_element(runs, runs.begin() + 10);
  bench.teller.say(fmt::format("{}: load {:.2f} ms, run {:.3f} ms", test.name, milliseconds(loaded),
                               runs[10]));
}

}  // namespace millrace::engine::plugin::check
