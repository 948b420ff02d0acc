#pragma once
// What a JEDI instance is here: an application, and the stages of a plan.
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "application/jedi/jedi.h"
#include "base/verdict.h"
#include "board/variant.h"
#include "network/darknet/darknet.h"

namespace millrace::application::jedi {

/// A stage of JEDI's pipeline.
struct Stage {
  bool on_dla = false;    // else on the GPU
  std::int64_t core = 0;  // of DLAs; 2 and above: all of them in turn
  board::Precision precision = board::Precision::f16;
  std::int64_t last = 0;     // its last layer, as JEDI counts
  std::int64_t streams = 1;  // on each of its processors
  bool operator==(const Stage&) const = default;
};

struct Imported {
  std::string name;         // fit for a file's
  std::string application;  // JSON for write_yaml
  std::filesystem::path model;
  std::map<std::string, network::Shape> shapes = {};  // of its inputs, where there is a batch
  std::vector<Stage> stages;  // none: the configuration says nothing of them
  std::int64_t slots = 2;
  std::vector<std::string> notes;  // one sentence for whatever has no counterpart
};

/// Relative paths are looked for in the current folder, as JEDI does, then beside the configuration
/// `file`; those in the application are relative to `folder`. InputError names file and line.
Imported import_instance(const Instance& instance, const std::filesystem::path& file,
                         const std::filesystem::path& folder);

/// The layers with which stages end, all but the last one's, in the network of a Darknet
/// configuration. JEDI counts a section as one layer, and its activation, unless linear, as
/// another. `instance` is for messages: InputError if a cut lies outside of the network.
std::vector<std::size_t> last_layers(const network::darknet::Model& model,
                                     const std::vector<Stage>& stages, const Instance& instance);

}  // namespace millrace::application::jedi
