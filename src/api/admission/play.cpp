// What was admitted, run here by its static table.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "api/admission/admit.h"
#include "api/deployment/open.h"
#include "api/setup.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "runtime/scheduling/host.h"
#include "runtime/scheduling/thread_priority.h"
#include "runtime/sequential.h"

namespace millrace::api {
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

std::size_t group_named(const system::System& system, const std::string& name) {
  for (std::size_t g = 0; g < system.groups.size(); ++g)
    if (system.groups[g].name == name) return g;
  return 0;
}

}  // namespace

PlayedAdmission play_admitted(const AdmitResult& result, const AdmitRequest& request,
                              const PlayRequest& play) {
  if (result.modelled)
    throw InputError("--run",
                     fmt::format("the times are modelled for the board '{}'; only what was "
                                 "measured on this machine runs here",
                                 result.board_name));
  if (!request.running.empty())
    throw InputError("--run",
                     "cannot be used with --beside: what runs already is not started again");
  if (!result.table) throw InputError("--run", "there is no static table to run");
  Networks networks(request.context);
  Setup setup;
  setup.engine = request.engine;
  setup.context = request.context;
  std::vector<std::unique_ptr<engine::Engine>> engines;
  std::vector<runtime::TableJob> jobs;
  for (std::size_t t = 0; t < result.table_tasks.size(); ++t) {
    const system::Group& group =
        result.system.groups[group_named(result.system, result.table_tasks[t].name)];
    const std::size_t choice = result.admission.choice[t];
    engines.push_back(make_engine(setup));
    const network::Network& network = networks.of(group.model);
    engine::Engine& engine = *engines.back();
    const board::Processor& processor = result.elements.elements[choice].board.processors[0];
    const std::vector<board::Variant>& variants = result.groups[t].layers[choice];
    jobs.push_back({processor, [&network, &engine, &processor, &variants] {
                      return ready_to_run(network, engine, processor, variants);
                    }});
  }
  const Verdict allowed = runtime::may_have_priority(table_priority);
  const runtime::LockedMemory locked;
  const InterruptGuard interrupt(request.context.interrupt);
  runtime::PlayOptions options;
  options.duration = play.duration;
  options.overrun = play.overrun;
  options.priority = allowed ? table_priority : 0;
  std::atomic<bool> interrupted = false;  // the players' threads ask
  options.is_interrupted = [&] {
    if (interrupt.take()) interrupted = true;
    return interrupted.load();
  };
  const auto work = request.context.begin("Running the table");
  runtime::Played played = runtime::play(*result.table, result.table_tasks, jobs, options);
  return {std::move(played), allowed.reason(), interrupted};
}

}  // namespace millrace::api
