#pragma once
// The parts 'edges' and 'chains' of a system's file.
#include "base/yaml.h"
#include "board/read_values.h"
#include "system/system.h"

namespace millrace::system {

/// Behind the groups, whose names are given.
void read_group_edges(const YamlView& root, const board::Names& groups, System& system);

}  // namespace millrace::system
