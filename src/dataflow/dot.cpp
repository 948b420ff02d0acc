#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/escape.h"
#include "dataflow/analysis.h"

namespace millrace::dataflow {
namespace {

std::string times_of(const Actor& actor) {
  std::vector<std::string> texts;
  for (Time time : actor.times) texts.push_back(to_text(time));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::string to_dot(const Graph& graph) {
  std::string text =
      fmt::format("digraph {} {{\n  rankdir=LR;\n  node [shape=box];\n", dot_string(graph.name));
  for (std::size_t a = 0; a < graph.actors.size(); ++a)
    text += fmt::format(
        "  a{} [label={}];\n", a,
        dot_string(fmt::format("{}\n[{}]", graph.actors[a].name, times_of(graph.actors[a]))));
  for (const Channel& channel : graph.channels)
    text += fmt::format("  a{} -> a{} [label={}, taillabel={}, headlabel={}];\n",
                        channel.from.index, channel.to.index,
                        dot_string(channel.initial_tokens == 0
                                   ? channel.name
                                   : fmt::format("{} ({})", channel.name, channel.initial_tokens)),
                        dot_string(fmt::format("[{}]", fmt::join(channel.production, ","))),
                        dot_string(fmt::format("[{}]", fmt::join(channel.consumption, ","))));
  return text + "}\n";
}

}  // namespace millrace::dataflow
