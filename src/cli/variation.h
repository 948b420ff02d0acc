#pragma once
// Whether a measurement was steady.
#include <string>
#include <vector>

namespace millrace::cli {

/// Standard deviation by mean; 0 of fewer than two.
double variation_of(const std::vector<double>& rates);

/// Says on standard error if the rounds' rates vary by more than 2.5 %.
void note_variation(const std::string& name, const std::vector<double>& rates);

}  // namespace millrace::cli
