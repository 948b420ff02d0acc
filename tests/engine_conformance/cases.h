#pragma once
// Small networks that every engine must run, or refuse with a reason.
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "network/network.h"
#include "support/network_builder.h"

namespace millrace::test {

struct ConformanceCase {
  std::string name;  // "conv_3x3_pad_1": letters, digits and underscores
  std::function<void(NetworkBuilder&)> build;
};

network::Network network_of(const ConformanceCase& test);
inline void PrintTo(const ConformanceCase& test, std::ostream* out) { *out << test.name; }

std::vector<ConformanceCase> convolution_cases();
std::vector<ConformanceCase> pool_cases();
std::vector<ConformanceCase> product_cases();
std::vector<ConformanceCase> normalization_cases();
std::vector<ConformanceCase> element_cases();
std::vector<ConformanceCase> movement_cases();
std::vector<ConformanceCase> quantized_cases();
std::vector<ConformanceCase> quantized_networks();
std::vector<ConformanceCase> graph_cases();
std::vector<ConformanceCase> function_cases();
std::vector<ConformanceCase> sequence_cases();
/// All of the above.
std::vector<ConformanceCase> all_cases();

}  // namespace millrace::test
