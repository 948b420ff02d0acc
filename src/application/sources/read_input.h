#pragma once
// The part `input` of an application's file: one input, or a list of them.
#include <string>
#include <vector>

#include "application/application.h"
#include "base/yaml.h"

namespace millrace::application {

/// One at least. Several have names, each its own.
std::vector<Input> read_inputs(const YamlView& view);

}  // namespace millrace::application
