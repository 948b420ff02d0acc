#include "product/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "product/bench/simulated_baselines.h"
#include "runtime/bench/energy.h"
#include "runtime/bench/summary.h"
#include "runtime/loaded/simulated_stages.h"
#include "schedule/schedule.h"

namespace millrace::product {
namespace {

std::unique_ptr<Loaded> load_beside(const Loaded& loaded, const BenchRequest& request,
                                    const std::string& file) {
  const RunnableOptions& runnable = request.runnable;
  auto other = load_plan(file, runnable.network, {runnable.model.context, runnable.time_scale});
  if (network::hash_of(other->network) != network::hash_of(loaded.network))
    throw InputError("⟨beside⟩ " + file,
                     fmt::format("is a plan of {}, not of the same {} as {}", other->network.name,
                                 loaded.network.name, runnable.model.source.file));
  if (loaded.simulated.engine != nullptr || other->simulated.engine != nullptr)
    throw InputError("⟨beside⟩ " + file,
                     "one of the two plans is for a board that is not this machine; compare them "
                     "with `millrace simulate`");
  return other;
}

/// By how long the plan's stages worked, at the rate of the rounds.
std::vector<board::DeviceEnergy> energy_of(const BenchResult& result, const Loaded& loaded) {
  const auto board = runtime::board_of(loaded.origin);
  const double rate = median_rate(result.rows.back());
  if (!board || rate <= 0) return {};
  std::vector<board::BusyProcessor> busy;
  const schedule::Schedule schedule = schedule::compile(loaded.plan);
  for (std::size_t s = 0; s < std::min(result.stages.size(), schedule.actors.size()); ++s)
    busy.push_back({schedule.actors[s].processor, busy_share(result, s, rate) / rate});
  return board::energy_per_frame(*board, busy, 1 / rate);
}

}  // namespace

BenchResult bench(Loaded& loaded, const BenchRequest& request) {
  const formats::ModelSource& source = request.runnable.model.source;
  runtime::BenchSubject subject{source.file, is_plan_file(source.file), source.seed};
  std::vector<std::unique_ptr<Loaded>> others;
  for (const std::string& file : request.beside) {
    others.push_back(load_beside(loaded, request, file));
    subject.beside.emplace_back(file, others.back().get());
  }
  note_simulation(loaded);
  const bool is_simulated = loaded.simulated.engine != nullptr;
  if (request.baselines && is_simulated) subject.simulated = simulated_baselines(loaded);
  BenchResult result = runtime::bench(loaded, request, subject);
  if (is_simulated) result.energy = energy_of(result, loaded);
  return result;
}

void serve_slices(const Loaded& loaded, const BenchRequest& request, const SliceClient& client) {
  note_simulation(loaded);
  runtime::serve_slices(loaded, request, client);
}

}  // namespace millrace::product
