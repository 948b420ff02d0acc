#pragma once
// What the processor this program runs on can execute.
#include <string>
#include <vector>

namespace millrace::board {

/// Instruction sets that matter to kernels and that the system has switched on, oldest first.
std::vector<std::string> instruction_sets();

/// Architecture that this program is compiled for: "x86_64", "aarch64"; else "other".
std::string architecture();

}  // namespace millrace::board
