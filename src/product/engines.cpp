#include "product/engines.h"

#include <algorithm>
#include <set>

#include "engine/competing.h"
#include "engine/registry.h"
#include "product/cache.h"
#include "product/setup.h"
#include "runtime/peaks.h"

namespace millrace::product {
namespace {

void count_precisions(Support& support, const std::vector<board::Variant>& variants) {
  if (variants.size() < 2) return;
  std::set<board::Precision> found;
  for (const board::Variant& variant : variants) found.insert(variant.precision);
  for (const board::Precision precision : found) ++support.precisions[precision];
}

bool is_short(const network::Network& network) {
  constexpr std::int64_t most_operations = 20'000'000'000;
  constexpr Bytes most_memory{std::int64_t{2} << 30};
  Bytes memory{};
  for (const network::Tensor& tensor : network.tensors) {
    memory += tensor.size();
    if (memory > most_memory) return false;
  }
  return network::cost_of(network).operations <= most_operations;
}

/// The times of a second run: the first one brings the memory.
std::vector<engine::GroupTime> timed_run(engine::Subnet& subnet) {
  std::vector<network::Buffer> memory;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  for (const engine::Port& port : subnet.inputs())
    in.push_back(memory.emplace_back(port.layout.size).data());
  for (const engine::Port& port : subnet.outputs())
    out.push_back(memory.emplace_back(port.layout.size).data());
  subnet.run(in, out);
  return subnet.run_timed(in, out);
}

std::optional<profile::PlainLoops> plain_loops(engine::Engine& engine,
                                               const network::Network& network,
                                               const board::Processor& processor) {
  if (engine.name() != engine::engine_names().front() || engine.name() == "reference" ||
      !is_short(network))
    return std::nullopt;
  const auto subnet = engine.prepare(engine::whole_network(network, processor));
  auto times = timed_run(*subnet);
  std::sort(times.begin(), times.end(),
            [](const auto& a, const auto& b) { return a.time > b.time; });
  profile::PlainLoops result{processor.name, {}, 0};
  Time all{}, loops{};
  for (const engine::GroupTime& group : times) {
    all += group.time;
    if (group.kernel != "loops") continue;
    loops += group.time;
    result.layers.insert(result.layers.end(), group.layers.begin(), group.layers.end());
  }
  if (result.layers.empty()) return std::nullopt;
  if (all > Time{}) result.share = seconds(loops) / seconds(all);
  return result;
}

}  // namespace

std::vector<EngineVersion> engines(const millrace::Context& context) {
  std::vector<EngineVersion> result;
  const engine::EngineOptions options = measuring_options(context);
  const std::string architecture = architecture_of(context);
  for (const std::string& name : engine::names_here(options)) {
    const Verdict verdict = engine::can_start(name, options);
    result.push_back({name, verdict ? engine::make_engine(name, options)->version() : "",
                      verdict.reason(), engine::competes_on(architecture, name)});
  }
  for (const engine::AbsentEngine& engine : engine::absent_engines())
    result.push_back(
        {engine.name, {}, engine.reason, engine::competes_on(architecture, engine.name)});
  return result;
}

std::vector<engine::ReachedDevice> devices(const millrace::Context& context) {
  return engine::reached_devices({}, measuring_options(context));
}

std::vector<Support> supports(const network::Network& network, const board::Board& board,
                              const millrace::Context& context) {
  std::vector<Support> result;
  const engine::EngineOptions options = measuring_options(context);
  for (const std::string& name : engine::names_here(options)) {
    if (!engine::can_start(name, options)) continue;
    const auto engine = engine::make_engine(name, options);
    Support& support = result.emplace_back(Support{.engine = name});
    board::Processor processor = board.processors.front();
    if (const auto reached = engine::reached_devices(name, options);
        !engine->traits(processor) && !reached.empty()) {
      processor = board::processors_of(reached.front().device).front();
      support.device = processor.name;
    }
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
      if (const Verdict verdict = engine->supports(network, LayerId(i), processor); !verdict) {
        support.refused.emplace_back(LayerId(i), verdict.reason());
        continue;
      }
      ++support.supported;
      count_precisions(support, engine->variants(network, LayerId(i), processor));
    }
    if (support.refused.empty() && support.device.empty() && !network.layers.empty())
      support.plain_loops = plain_loops(*engine, network, board.processors.front());
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

}  // namespace millrace::product
