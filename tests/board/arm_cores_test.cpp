#include "board/arm_cores.h"

#include <gtest/gtest.h>

#include <sstream>

namespace millrace::board {
namespace {

std::string cores(const std::string& cpuinfo) {
  std::istringstream stream(cpuinfo);
  return arm_cores(stream);
}

std::string core(const std::string& implementer, const std::string& part) {
  return "processor\t: 0\nBogoMIPS\t: 108.00\nCPU implementer\t: " + implementer +
         "\nCPU architecture: 8\nCPU variant\t: 0x4\nCPU part\t: " + part +
         "\nCPU revision\t: 1\n\n";
}

TEST(ArmCores, are_named_as_in_the_shipped_board_files) {
  EXPECT_EQ(cores(core("0x41", "0xd0b") + core("0x41", "0xd0b")), "Cortex-A76");
  EXPECT_EQ(cores(core("0x4e", "0x004")), "NVIDIA Carmel");
  EXPECT_EQ(cores(core("0x41", "0xd42")), "Cortex-A78AE");
}

TEST(ArmCores, of_several_kinds_are_each_named_once) {
  EXPECT_EQ(cores(core("0x41", "0xd05") + core("0x41", "0xd0b") + core("0x41", "0xd05")),
            "Cortex-A55 + Cortex-A76");
}

TEST(ArmCores, that_nobody_knows_have_their_numbers) {
  EXPECT_EQ(cores(core("0x99", "0xabc")), "implementer 0x99 part 0xabc");
  EXPECT_EQ(cores("model name\t: Some x86\n"), "");
}

}  // namespace
}  // namespace millrace::board
