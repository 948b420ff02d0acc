#pragma once
// The words for enumerators in files and messages, in the order of the enumerators.
#include <array>
#include <string_view>

namespace millrace::board {

inline constexpr std::array<std::string_view, 3> processor_kinds{"cpu", "gpu", "npu"};
inline constexpr std::array<std::string_view, 4> precisions{"f32", "f16", "bf16", "int8"};
inline constexpr std::array<std::string_view, 2> granularities{"layer", "subnet"};
inline constexpr std::array<std::string_view, 3> schedulings{"preemptive_fixed_priority",
                                                             "fifo_by_kernel", "fifo_by_subnet"};

template <class Words, class Enumeration>
constexpr std::string_view word_of(const Words& words, Enumeration value) {
  return words[static_cast<std::size_t>(value)];
}

}  // namespace millrace::board
