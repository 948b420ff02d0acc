#pragma once
// What the processor this program runs on can execute.
#include <string>
#include <vector>

namespace millrace::board {

/// Those that matter to kernels and that the operating system has switched on, oldest first.
std::vector<std::string> instruction_sets();

}  // namespace millrace::board
