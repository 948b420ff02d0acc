#pragma once
// Whether a measurement was steady.
#include <string>
#include <vector>

#include "base/operation/context.h"

namespace millrace::runtime {

/// Standard deviation by mean; 0 of fewer than two.
double variation_of(const std::vector<double>& rates);

struct Rounds {
  std::string name;
  std::vector<double> rates;
};

/// Notes which of them vary by more than 2.5 %.
void note_variation(const std::vector<Rounds>& measured, const Context& context);

}  // namespace millrace::runtime
