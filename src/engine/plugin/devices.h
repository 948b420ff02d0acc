#pragma once
// A plug-in's devices in the words of boards.
#include <vector>

#include "board/device.h"
#include "board/variant.h"
#include "engine/device.h"
#include "engine/plugin/instance.h"

namespace millrace::engine::plugin {

board::ProcessorKind kind_of(const PluginDevice& device);
/// The most exact first.
std::vector<board::Precision> precisions_of(const PluginDevice& device);
board::Granularity granularity_of(const PluginDevice& device);
/// The devices beside the host's cores that are here.
std::vector<ReachedDevice> reached_by(const Instance& instance);

}  // namespace millrace::engine::plugin
