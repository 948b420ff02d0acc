#pragma once
// Where the system shows and takes the limits of devices' clocks.
#include <filesystem>
#include <string>
#include <vector>

#include "board/board.h"

namespace millrace::runtime {

/// A file that limits a clock: of cpufreq, in kHz, or of devfreq, in Hz.
struct ClockLimitFile {
  std::filesystem::path path;
  double units_each_mhz = 1;
};

/// Clocks of a device's cores; of a GPU or NPU, if one device of devfreq alone is called like one.
/// `root`: "/sys".
std::vector<ClockLimitFile> clock_limits(const board::Device& device,
                                         const std::filesystem::path& root);

/// Whether drivers call a GPU or NPU so: 17000000.gv11b, fb000000.gpu, fdab0000.npu.
bool is_called(const std::string& name, board::ProcessorKind kind);

/// The number in a file of the system; -1: it cannot be read.
long long number_in(const std::filesystem::path& path);

}  // namespace millrace::runtime
