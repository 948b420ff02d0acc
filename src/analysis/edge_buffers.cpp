#include "analysis/edge_buffers.h"

#include "deployment/script.h"
#include "system/task_edges.h"

namespace millrace::analysis {
namespace {

std::string node_name(const system::TaskGraph& graph, std::size_t node) {
  return node == graph.network() ? system::network_node : graph.tasks[node].name;
}

void add_buffers(const system::System& system, system::GroupId id,
                 std::vector<EdgeBuffer>& buffers) {
  const system::Group& group = system[id];
  const system::TaskGraph& graph = group.graph;
  const std::int64_t frames = deployment::most_on_the_way(system, id);
  const auto spaces = system::spaces_without_waits(graph, group.has_network(), frames);
  const auto least = system::smallest_spaces(graph, group.has_network());
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const system::GraphEdge& edge = graph.edges[e];
    buffers.push_back({id.index, node_name(graph, edge.from), node_name(graph, edge.to), spaces[e],
                       least[e], Bytes{edge.bytes}});
  }
}

}  // namespace

std::vector<EdgeBuffer> edge_buffers(const deployment::Deployment& deployment) {
  std::vector<EdgeBuffer> buffers;
  for (std::size_t g = 0; g < deployment.system.groups.size(); ++g)
    if (!deployment.system.groups[g].graph.empty())
      add_buffers(deployment.system, system::GroupId(g), buffers);
  return buffers;
}

}  // namespace millrace::analysis
