#pragma once
// The words for enumerators in files, in the order of the enumerators.
#include <array>
#include <string_view>

namespace millrace::workload {

inline constexpr std::array<std::string_view, 2> kind_words{"transfer", "processing"};
inline constexpr std::array<std::string_view, 8> operation_words{
    "copy", "convolution", "depthwise", "max_pool", "average_pool", "layer", "whole", "requantize"};

}  // namespace millrace::workload
