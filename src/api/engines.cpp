#include "api/engines.h"

#include <set>

#include "engine/registry.h"
#include "runtime/peaks.h"

namespace millrace::api {
namespace {

void count_precisions(Support& support, const std::vector<board::Variant>& variants) {
  if (variants.size() < 2) return;
  std::set<board::Precision> found;
  for (const board::Variant& variant : variants) found.insert(variant.precision);
  for (const board::Precision precision : found) ++support.precisions[precision];
}

}  // namespace

std::vector<EngineVersion> engines() {
  std::vector<EngineVersion> result;
  for (const std::string& name : engine::engine_names())
    result.push_back({name, engine::make_engine(name)->version()});
  for (const engine::AbsentEngine& engine : engine::absent_engines())
    result.push_back({engine.name, {}, engine.reason});
  return result;
}

std::vector<Support> supports(const network::Network& network, const board::Board& board) {
  std::vector<Support> result;
  for (const std::string& name : engine::engine_names()) {
    const auto engine = engine::make_engine(name);
    Support& support = result.emplace_back(Support{name});
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
      const board::Processor& processor = board.processors.front();
      if (const Verdict verdict = engine->supports(network, LayerId(i), processor); !verdict) {
        support.refused.emplace_back(LayerId(i), verdict.reason());
        continue;
      }
      ++support.supported;
      count_precisions(support, engine->variants(network, LayerId(i), processor));
    }
  }
  return result;
}

MeasuredPeaks measure_peaks(const board::Board& board) {
  MeasuredPeaks measured;
  for (const board::Processor& processor : board.processors)
    measured.alone.push_back(runtime::measure_peaks(board::only(board, {processor.name})).front());
  measured.together = runtime::measure_peaks(board);
  return measured;
}

}  // namespace millrace::api
