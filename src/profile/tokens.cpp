// The costs of moving elements between cores, for equation 3.4.
#include <algorithm>
#include <numeric>

#include "base/json_text.h"
#include "profile/measure.h"

namespace millrace::profile {
namespace {

constexpr std::size_t elements = 256 * 1024;  // 1 MiB: a typical activation
constexpr int rounds = 15;

double nanoseconds_per_element(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  const Time time = std::chrono::steady_clock::now() - start;
  return static_cast<double>(time.count()) / static_cast<double>(elements);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

}  // namespace

TokenCosts measure_tokens(const board::Board& board) {
  std::vector<board::Processor> on_cores = board.processors;
  std::erase_if(on_cores, [](const board::Processor& each) { return each.cores.empty(); });
  if (on_cores.empty()) on_cores = {board.processors.front()};
  const board::Processor &writer = on_cores.front(), &reader = on_cores.back();
  network::Buffer memory(Bytes{static_cast<std::int64_t>(elements * sizeof(float))});
  float* values = reinterpret_cast<float*>(memory.data());
  std::vector<double> reads, writes;
  volatile float sink = 0;
  const board::PinGuard restore(writer);
  for (int round = 0; round < rounds; ++round) {
    board::pin_this_thread(writer);
    writes.push_back(
        nanoseconds_per_element([&] { std::fill_n(values, elements, static_cast<float>(round)); }));
    board::pin_this_thread(reader);
    reads.push_back(
        nanoseconds_per_element([&] { sink = std::reduce(values, values + elements); }));
  }
  return {rounded(median(std::move(reads))), rounded(median(std::move(writes)))};
}

}  // namespace millrace::profile
