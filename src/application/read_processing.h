#pragma once
// The parts `preprocess` and `postprocess` of an application's file.
#include "application/application.h"
#include "base/yaml.h"

namespace millrace::application {

Preprocess read_preprocess(const YamlView& view);
Postprocess read_postprocess(const YamlView& view);

}  // namespace millrace::application
