#pragma once
// The part `input` of an application's file: one input, or a list of them.
#include <string>
#include <vector>

#include "application/application.h"
#include "base/yaml.h"

namespace millrace::application {

/// One at least. Paths are relative to the folder of `file`. Several have names, each its own.
std::vector<Input> read_inputs(const YamlView& view, const std::string& file);

/// A path in the application's file, relative to its folder. InputError if it is empty.
std::string path_beside(const YamlView& view, const std::string& file);

}  // namespace millrace::application
