#pragma once
// Boards some of whose processors are devices with memories of their own.
#include "networks.h"

namespace millrace::plan::test {

/// The last `devices` of the processors are "device0", ..., each with `copy_engines`, its memory is
/// called as it is.
inline board::Board board_with_devices(std::size_t processors, std::size_t devices,
                                       int copy_engines) {
  board::Board board = board_of(processors);
  for (std::size_t d = 0; d < devices; ++d) {
    board::Device device;
    device.name = fmt::format("device{}", d);
    device.kind = board::ProcessorKind::gpu;
    device.processors = {device.name};
    device.costs.transfer = 1e9;
    device.costs.copy_engines = copy_engines;
    board.processors[processors - devices + d] = {device.name, device.kind, {}};
    board.devices.push_back(std::move(device));
  }
  return board;
}

}  // namespace millrace::plan::test
