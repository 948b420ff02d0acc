#pragma once
// The part `crops` of an application's file.
#include "application/application.h"
#include "base/yaml.h"

namespace millrace::application {

/// Paths are relative to the file's folder. InputError with the place, also where the application
/// finds no boxes. `application` has its inputs and post-processing already.
Crops read_crops(const YamlView& view, const Application& application);

}  // namespace millrace::application
