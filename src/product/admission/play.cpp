// What was admitted, run here by its static table.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "explore/admission/tasks.h"
#include "product/admission/jobs.h"
#include "product/setup.h"
#include "runtime/scheduling/host.h"
#include "runtime/scheduling/thread_priority.h"
#include "runtime/sequential.h"

namespace millrace::product {
namespace {

/// Below what the system needs for itself.
constexpr int table_priority = 50;

/// The group's network, ready to run on its processor. Made, used and gone on one thread.
runtime::TableWork ready_to_run(const network::Network& network, engine::Engine& engine,
                                const board::Processor& processor,
                                const std::vector<board::Variant>& variants) {
  runtime::SequentialOptions options;
  options.variants = variants;
  auto sequential = std::make_shared<runtime::Sequential>(network, engine, processor, options);
  for (int run = 0; run < 3; ++run) sequential->run_again();  // caches and pages
  return [sequential] { sequential->run_again(); };
}

const system::Group& system_group_of(const system::System& system,
                                     const explore::GroupVariants& variants) {
  for (const system::Group& group : system.groups)
    if (group.name == variants.name) return group;
  throw InputError(system.file, fmt::format("it has no group '{}' any more", variants.name));
}

}  // namespace

AdmittedJobs::AdmittedJobs(const AdmitRequest& request)
    : request_(request), networks_(request.context) {}

runtime::TableJob AdmittedJobs::job(const AdmitResult& result, std::size_t task) {
  const explore::GroupVariants& variants = result.groups[task];
  const system::System system =
      variants.system == result.system.file ? result.system : open_system(variants.system);
  const system::Group& group = system_group_of(system, variants);
  if (!group.has_network())
    throw InputError(group.place, fmt::format("group '{}' has times and no 'model' to run; add one",
                                              group.name));
  const std::size_t choice = result.admission.choice[task];
  const explore::Element& element = result.elements.elements[choice];
  Setup setup;
  setup.engine = request_.engine;
  setup.context = request_.context;
  Use& use = uses_.emplace_back(
      Use{&networks_.of(group.model), make_engine(setup), element.board.processors[0], {}});
  if (!variants.layers.empty())
    use.layers = variants.layers[choice];
  else if (group.times.empty())
    use.layers = explore::fastest_measured(measured(request_, *use.network, group, element.board),
                                           group.precisions)
                     .layers;
  return {use.processor,
          [&use] { return ready_to_run(*use.network, *use.engine, use.processor, use.layers); }};
}

PlayedAdmission AdmittedJobs::play(const AdmitResult& result, const PlayRequest& play,
                                   runtime::PlayOptions options) {
  std::vector<runtime::TableJob> jobs;
  for (std::size_t t = 0; t < result.table_tasks.size(); ++t) jobs.push_back(job(result, t));
  const Verdict allowed = runtime::may_have_priority(table_priority);
  const runtime::LockedMemory locked;
  const InterruptGuard interrupt(request_.context.interrupt);
  options.duration = play.duration;
  options.overrun = play.overrun;
  options.priority = allowed ? table_priority : 0;
  options.units = result.problem.units.size();
  std::atomic<bool> interrupted = false;  // the players' threads ask
  options.is_interrupted = [&] {
    if (interrupt.take()) interrupted = true;
    return interrupted.load();
  };
  const auto work = request_.context.begin("Running the table");
  runtime::Played played = runtime::play(*result.table, result.table_tasks, jobs, options);
  return {std::move(played), allowed.reason(), interrupted};
}

PlayedAdmission play_admitted(const AdmitResult& result, const AdmitRequest& request,
                              const PlayRequest& play) {
  if (result.modelled)
    throw InputError("⟨run⟩",
                     fmt::format("the times are modelled for the board '{}'; only what was "
                                 "measured on this machine runs here",
                                 result.board_name));
  if (!request.running.empty())
    throw InputError("⟨run⟩",
                     "cannot be used with ⟨beside⟩: what runs already is not started again");
  if (!result.table) throw InputError("⟨run⟩", "there is no static table to run");
  AdmittedJobs jobs(request);
  return jobs.play(result, play);
}

}  // namespace millrace::product
