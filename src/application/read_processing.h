#pragma once
// The parts `preprocess`, `postprocess` and `mapping` of an application's file.
#include "application/application.h"
#include "base/yaml.h"

namespace millrace::application {

Preprocess read_preprocess(const YamlView& view);
Postprocess read_postprocess(const YamlView& view);
/// The part `mapping`; its plan's path is as it stands there.
ByHand read_mapping(const YamlView& view);

}  // namespace millrace::application
