#pragma once
// The names of ARM's cores, which Linux tells by number only.
#include <istream>
#include <map>
#include <string>

namespace millrace::board {

/// From the content of /proc/cpuinfo: each kind of core once, in the order of the first of them,
/// such as "Cortex-A55 + Cortex-A76". What is not known by name is "implementer 0x41 part 0xd0b".
/// Empty: it has no such numbers, as on x86.
std::string arm_cores(std::istream& cpuinfo);

/// The same by the number of each core.
std::map<int, std::string> arm_models(std::istream& cpuinfo);

}  // namespace millrace::board
