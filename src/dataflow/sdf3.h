#pragma once
// Graphs as SDF3 XML files, SDF and CSDF.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/graph.h"

namespace millrace::dataflow {

/// What a file holds. Its actors are concurrent: in these files only channels limit how many
/// firings of an actor overlap.
struct Sdf3File {
  Graph graph;
  /// By actor: the time on each type of processor, as actor.times.front() counts.
  std::vector<std::vector<std::pair<std::string, std::int64_t>>> times_by_type = {};
  std::int64_t ticks = 1;          // of the graph's Time per unit of the file's, for decimals
  std::vector<std::string> notes;  // what was assumed
};

/// InputError naming the file, the actor and the channel, for whatever does not describe a graph.
/// Whether the graph is consistent is not looked at.
Sdf3File read_sdf3(const std::filesystem::path& path);
Sdf3File parse_sdf3(const std::string& text, const std::string& file);

/// An actor that is not concurrent gets a channel to itself with one token; Time is written in its
/// own unit.
std::string to_sdf3(const Graph& graph);

}  // namespace millrace::dataflow
