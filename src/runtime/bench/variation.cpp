#include "runtime/bench/variation.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>


namespace millrace::runtime {

double variation_of(const std::vector<double>& rates) {
  if (rates.size() < 2) return 0;
  const auto count = static_cast<double>(rates.size());
  const double mean = std::accumulate(rates.begin(), rates.end(), 0.0) / count;
  double squares = 0;
  for (const double rate : rates) squares += (rate - mean) * (rate - mean);
  return mean > 0 ? std::sqrt(squares / (count - 1)) / mean : 0;
}

void note_variation(const std::vector<Rounds>& measured, const Context& context) {
  constexpr double steady = 0.025;
  std::string unsteady;
  for (const auto& [name, rates] : measured)
    if (const double variation = variation_of(rates); variation > steady)
      unsteady +=
          fmt::format("{}\"{}\" by {:.1f} %", unsteady.empty() ? "" : ", ", name, 100 * variation);
  if (!unsteady.empty())
    context.note(
        fmt::format("the rounds vary by more than 2.5 % (coefficient of variation; {}): let the "
                    "machine rest, or take more rounds",
                    unsteady));
}

}  // namespace millrace::runtime
