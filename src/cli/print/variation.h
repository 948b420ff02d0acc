#pragma once
// Whether a measurement was steady.
#include <string>
#include <vector>

namespace millrace::cli {

/// Standard deviation by mean; 0 of fewer than two.
double variation_of(const std::vector<double>& rates);

struct Rounds {
  std::string name;
  std::vector<double> rates;
};

/// Says on standard error which of them vary by more than 2.5 %.
void note_variation(const std::vector<Rounds>& measured);

}  // namespace millrace::cli
