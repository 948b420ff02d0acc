#pragma once
// The words for enumerators in files and messages, in the order of the enumerators.
#include <array>
#include <string_view>

#include "board/words.h"

namespace millrace::deployment {

using board::word_of;

inline constexpr std::array<std::string_view, 4> step_words{"preprocess", "phase", "postprocess",
                                                            "task"};
inline constexpr std::array<std::string_view, 3> contention_words{"alone", "beside the others",
                                                                  "modelled"};

}  // namespace millrace::deployment
