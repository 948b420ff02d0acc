// A graph, and small ones analysed too.
#include "dataflow/sdf3.h"

#include "dataflow/analysis.h"
#include "dataflow/buffers.h"
#include "fuzz.h"

namespace {

using namespace millrace;

bool is_small(const dataflow::Graph& graph, const std::vector<std::int64_t>& cycles) {
  double firings = 0;
  for (std::size_t a = 0; a < cycles.size(); ++a)
    firings += static_cast<double>(cycles[a]) * static_cast<double>(graph.actors[a].times.size());
  return firings < 1e4;
}

void analyse(const dataflow::Graph& graph) {
  if (!is_small(graph, dataflow::repetition_vector(graph)) || !dataflow::is_live(graph)) return;
  constexpr std::int64_t most = 10'000;
  dataflow::latency(graph);
  for (const auto method : {dataflow::Method::self_timed, dataflow::Method::cycle_ratio,
                            dataflow::Method::k_periodic})
    dataflow::throughput(graph, {method, most, most});
  dataflow::SizingOptions limits;
  limits.max_tries = 10;
  dataflow::smallest_buffers(graph, std::nullopt, limits);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::attempt([&] {
    const auto file = dataflow::parse_sdf3(std::string(fuzz::text_of(data, size)), "fuzz.xml");
    dataflow::to_sdf3(file.graph);
    dataflow::to_dot(file.graph);
    analyse(file.graph);
  });
}
