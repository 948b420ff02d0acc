#include "runtime/peaks.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <functional>
#include <future>
#include <numeric>
#include <span>

#include "base/error.h"
#include "board/unit_loops.h"

namespace millrace::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Time enough = std::chrono::milliseconds(10);  // for one median
constexpr int passes = 3;
constexpr std::size_t least_samples = 5;
constexpr std::int64_t rounds = 10000;  // of a unit's loop: 0.02 to 0.5 ms

/// Memory of one core. Four times the largest cache, over all cores, leaves little in it. More
/// than the upper bound only costs time: so large a cache has other users too, and a virtual
/// machine may take two seconds to touch a new GiB.
constexpr std::int64_t least_memory = std::int64_t{32} << 20, most_memory = std::int64_t{128} << 20;

/// Per second: how much is done in the median run of `once`, which does `amount`.
double rate(double amount, const std::function<void()>& once) {
  std::vector<double> samples;
  const auto start = Clock::now();
  for (auto before = start; samples.size() < least_samples || before - start < enough;) {
    once();
    const auto after = Clock::now();
    samples.push_back(seconds(after - before));
    before = after;
  }
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return amount / *middle;
}

/// Fresh memory in large pages where the system has them.
class Pages {
 public:
  explicit Pages(std::size_t bytes) : bytes_(bytes) {
    memory_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED)
      throw EngineError(
          fmt::format("{} of memory cannot be allocated to measure the "
                      "memory", to_text(Bytes{size()})));
    ::madvise(memory_, bytes, MADV_HUGEPAGE);  // without them: slower, that is all
    std::memset(memory_, 1, bytes);
  }
  ~Pages() { ::munmap(memory_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::span<float> values() { return {static_cast<float*>(memory_), bytes_ / sizeof(float)}; }

 private:
  std::int64_t size() const { return static_cast<std::int64_t>(bytes_); }

  std::size_t bytes_;
  void* memory_;
};

/// Walks over the memory piece by piece, so that each piece has left the caches when it comes
/// again.
class Stream {
 public:
  explicit Stream(std::span<float> values) : values_(values) {}

  double reading() {
    constexpr std::size_t bytes_read = piece * sizeof(float);
    return rate(bytes_read, [&] {
      const auto* words = reinterpret_cast<const std::uint32_t*>(next(piece).data());
      sink_ = std::accumulate(words, words + piece, std::uint32_t{0});
    });
  }
  double triad() {
    constexpr std::size_t part = piece / 3, bytes_moved = 3 * part * sizeof(float);
    return rate(bytes_moved, [&] {
      float* const a = next(piece).data();
      for (std::size_t i = 0; i < part; ++i) a[i] = a[part + i] + 0.5f * a[2 * part + i];
    });
  }

 private:
  static constexpr std::size_t piece = std::size_t{3} << 18;  // floats: 3 MiB

  std::span<float> next(std::size_t count) {
    if (at_ + count > values_.size()) at_ = 0;
    at_ += count;
    return values_.subspan(at_ - count, count);
  }

  std::span<float> values_;
  std::size_t at_ = 0;
  volatile std::uint32_t sink_ = 0;
};

std::size_t memory_per_core(const board::Board& board, std::size_t cores) {
  std::int64_t largest = 0;
  for (const board::Cache& cache : board.caches) largest = std::max(largest, cache.size.count);
  const std::int64_t share = 4 * largest / static_cast<std::int64_t>(cores);
  return static_cast<std::size_t>(std::clamp(share, least_memory, most_memory));
}

/// What each core does; the barrier keeps all of them at the same kind of work.
class CoreTrial {
 public:
  CoreTrial(std::size_t memory, std::barrier<>& together) : memory_(memory), together_(together) {}

  board::Peaks run(int core) {
    try {
      board::pin_this_thread({fmt::format("core{}", core), board::ProcessorKind::cpu, {core}});
      return measure();
    } catch (...) {
      together_.arrive_and_drop();  // the others go on without this core
      throw;
    }
  }

 private:
  board::Peaks measure() {
    Pages pages(memory_);
    Stream stream(pages.values());
    board::Peaks peaks;
    for (int pass = 0; pass < passes; ++pass) raise(peaks, stream);
    return peaks;
  }

  void raise(board::Peaks& peaks, Stream& stream) {
    for (const board::UnitLoop& loop : board::unit_loops()) {
      together_.arrive_and_wait();
      double& peak = peaks.operations[loop.precision];
      const auto once = [&] { loop.run(rounds); };
      peak = std::max(peak, rate(static_cast<double>(rounds * loop.operations), once));
    }
    together_.arrive_and_wait();
    peaks.bytes = std::max(peaks.bytes, stream.reading());
    together_.arrive_and_wait();
    peaks.bytes = std::max(peaks.bytes, stream.triad());
  }

  std::size_t memory_;
  std::barrier<>& together_;
};

board::Peaks sum(const board::Peaks& a, const board::Peaks& b) {
  board::Peaks result = a;
  for (const auto& [precision, operations] : b.operations)
    result.operations[precision] += operations;
  result.bytes += b.bytes;
  return result;
}

std::vector<int> cores_of(const board::Board& board) {
  std::vector<int> cores;
  for (const board::Processor& processor : board.processors)
    cores.insert(cores.end(), processor.cores.begin(), processor.cores.end());
  return cores;
}

std::vector<board::Peaks> measure_cores(const std::vector<int>& cores, std::size_t memory) {
  std::barrier together(static_cast<std::ptrdiff_t>(cores.size()));
  CoreTrial trial(memory, together);
  std::vector<std::future<board::Peaks>> pending;
  try {
    for (const int core : cores)
      pending.push_back(std::async(std::launch::async, [&trial, core] { return trial.run(core); }));
  } catch (const std::system_error& error) {
    for (std::size_t i = pending.size(); i < cores.size(); ++i) together.arrive_and_drop();
    throw EngineError(fmt::format("a thread to measure with cannot be started: {}", error.what()));
  }
  std::vector<board::Peaks> result;
  for (std::future<board::Peaks>& core : pending) result.push_back(core.get());
  return result;
}

}  // namespace

std::vector<board::Peaks> measure_peaks(const board::Board& board) {
  const std::vector<int> cores = cores_of(board);
  if (cores.empty()) return std::vector<board::Peaks>(board.processors.size());
  const std::vector<board::Peaks> measured =
      measure_cores(cores, memory_per_core(board, cores.size()));
  std::vector<board::Peaks> result;
  auto core = measured.begin();
  for (const board::Processor& processor : board.processors) {
    board::Peaks& peaks = result.emplace_back();
    for (std::size_t i = 0; i < processor.cores.size(); ++i) peaks = sum(peaks, *core++);
  }
  return result;
}

}  // namespace millrace::runtime
