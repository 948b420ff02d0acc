#pragma once
// What the processor this program runs on can execute.
#include <string>
#include <vector>

namespace millrace::board {

/// Those that matter to kernels and that the operating system has switched on, oldest first.
std::vector<std::string> instruction_sets();

/// Of the processors that this program is compiled for: "x86_64", "aarch64"; else "other".
std::string architecture();

}  // namespace millrace::board
