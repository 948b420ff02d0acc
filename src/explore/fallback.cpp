#include "explore/fallback.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::explore {
namespace {

class Around {
 public:
  Around(const Problem& problem, const plan::Mapping& mapping, ProcessorId processor)
      : problem_(problem), mapping_(mapping), processor_(processor) {}

  std::vector<Fallback> find() {
    std::vector<Problem::Edge> edges = problem_.edges;
    std::ranges::stable_sort(edges, {}, &Problem::Edge::to);
    std::vector<bool> before(problem_.layers), behind(problem_.layers);
    for (const Problem::Edge& edge : edges)
      if (is_here(edge.from) || (is_refused(edge.from) && before[edge.from]))
        before[edge.to] = true;
    std::ranges::stable_sort(edges, std::ranges::greater{}, &Problem::Edge::from);
    for (const Problem::Edge& edge : edges)
      if (is_here(edge.to) || (is_refused(edge.to) && behind[edge.to])) behind[edge.from] = true;
    std::vector<Fallback> result;
    for (std::size_t layer = 0; layer < problem_.layers; ++layer)
      if (is_refused(layer) && before[layer] && behind[layer])
        result.push_back({LayerId(layer), processor_});
    return result;
  }

 private:
  bool is_here(std::size_t layer) const { return mapping_.processors[layer] == processor_; }
  bool is_refused(std::size_t layer) const {
    return !std::isfinite(problem_.time[layer][processor_.index]);
  }

  const Problem& problem_;
  const plan::Mapping& mapping_;
  ProcessorId processor_;
};

std::string layer_text(std::size_t layer, const SearchContext& context) {
  const network::Layer& each = context.network.layers[layer];
  return fmt::format("{} ({})", each.name, network::name_of(each.op));
}

}  // namespace

std::vector<Fallback> fallbacks(const Problem& problem, const plan::Mapping& mapping) {
  std::vector<Fallback> result;
  for (std::size_t p = 0; p < problem.processors; ++p) {
    const std::vector<Fallback> found = Around(problem, mapping, ProcessorId(p)).find();
    result.insert(result.end(), found.begin(), found.end());
  }
  std::ranges::stable_sort(result, {}, [](const Fallback& each) { return each.layer.index; });
  return result;
}

std::string text_of(const std::vector<Fallback>& fallbacks, const SearchContext& context) {
  const auto& [layer, wanted] = fallbacks.front();
  const std::string more =
      fallbacks.size() > 1 ? fmt::format("; so it is with {} more", fallbacks.size() - 1) : "";
  return fmt::format("{} does not run on {}, which has the layers around it: {}{}",
                     layer_text(layer.index, context), context.board[wanted].name,
                     context.problem.refusal(layer.index, wanted), more);
}

std::vector<std::string> first_refusals(const SearchContext& context) {
  std::vector<std::string> result;
  const Problem& problem = context.problem;
  for (std::size_t p = 0; p < problem.processors; ++p)
    for (std::size_t layer = 0; layer < problem.layers; ++layer)
      if (!std::isfinite(problem.time[layer][p])) {
        result.push_back(fmt::format("{} does not run on {}: {}", layer_text(layer, context),
                                     context.board.processors[p].name,
                                     problem.refusal(layer, ProcessorId(p))));
        break;
      }
  return result;
}

}  // namespace millrace::explore
