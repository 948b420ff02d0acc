#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "profile/profile.h"

namespace millrace::profile {
namespace {

Time median_of(std::vector<Time> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

bool agree(Time a, Time b) {
  const double x = static_cast<double>(a.count()), y = static_cast<double>(b.count());
  return std::abs(x - y) <= 0.05 * std::max(x, y) + 100;  // 100 ns: what reading the clock costs
}

}  // namespace

Statistics statistics_of(std::vector<Time> samples) {
  Statistics result;
  if (samples.empty()) return result;
  const double count = static_cast<double>(samples.size());
  double sum = 0, squares = 0;
  for (const Time sample : samples) sum += static_cast<double>(sample.count());
  const double mean = sum / count;
  for (const Time sample : samples) {
    const double distance = static_cast<double>(sample.count()) - mean;
    squares += distance * distance;
  }
  const double deviation = samples.size() < 2 ? 0 : std::sqrt(squares / (count - 1));
  const auto half = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  result.stable = samples.size() < 4 ||
                  agree(median_of({samples.begin(), half}), median_of({half, samples.end()}));
  result.median = median_of(samples);
  result.mean = Time(std::llround(mean));
  result.deviation = Time(std::llround(deviation));
  result.maximum = *std::max_element(samples.begin(), samples.end());
  result.worst_case = std::max(result.maximum, Time(std::llround(mean + 6 * deviation)));
  result.count = static_cast<std::int64_t>(samples.size());
  return result;
}

const ProcessorProfile& of(const Profile& profile, const board::Processor& processor) {
  std::string known;
  for (const ProcessorProfile& candidate : profile.processors) {
    if (candidate.processor == processor) return candidate;
    known += (known.empty() ? "" : ", ") + candidate.processor.name;
  }
  throw InputError("the profile", "has no times for the processor '" + processor.name +
                                      "', only for: " + known + "; run `millrace profile` again");
}

}  // namespace millrace::profile
