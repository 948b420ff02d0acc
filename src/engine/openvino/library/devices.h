#pragma once
// What OpenVINO runs on, by the names of processors.
#include <openvino/openvino.hpp>

#include <optional>
#include <string>
#include <vector>

#include "board/board.h"
#include "engine/device.h"

namespace millrace::engine::openvino {

/// The core of the process: another one would load OpenVINO's plug-ins again. Any thread.
ov::Core shared_core();

/// What OpenVINO calls the processor ("CPU", "GPU.1"); nothing if it has no such device.
std::optional<std::string> device_of(const ov::Core& core, const board::Processor& processor);

/// All but the cores.
std::vector<ReachedDevice> reached_devices();

}  // namespace millrace::engine::openvino
