#pragma once
// The parts `preprocess`, `postprocess`, `mapping` and `labels` of an application's file.
#include <string>
#include <vector>

#include "application/application.h"
#include "base/yaml.h"

namespace millrace::application {

Preprocess read_preprocess(const YamlView& view);
Postprocess read_postprocess(const YamlView& view);
/// The part `mapping`; its plan's path is as it stands there.
ByHand read_mapping(const YamlView& view);
/// A list, or a file with one per line.
std::vector<std::string> read_labels(const YamlView& view);
/// The alphabet of text: the same, but a character may be a blank.
void read_alphabet(const YamlView& view, Postprocess& text);

}  // namespace millrace::application
