#include "api/bench/slices.h"

#include "base/interrupt.h"

namespace millrace::api {

void serve_slices(const Loaded& loaded, const BenchRequest& request, const SliceClient& client) {
  const Time warmup = time_from_seconds(request.warmup_s);
  // A signal that comes during a slice ends it; one that comes in between ends the process.
  std::optional<InterruptGuard> interrupt;
  runtime::LoadOptions options;
  options.seed = request.runnable.model.source.seed;
  options.in_flight = in_flight_of(request, {loaded.plan, loaded.evidence}, loaded.network);
  options.between = [&] { interrupt->check(); };
  runtime::Session session = runtime::deploy(loaded.plan, loaded.network, loaded.engine_pointers());
  client.ready(runtime::first_latency(session, loaded.network, options.seed));
  runtime::IntermittentLoad load(std::move(session), loaded.network, options);
  while (const std::optional<Time> duration = client.next()) {
    interrupt.emplace(loaded.context.interrupt);
    if (warmup > Time{}) load.run(warmup, 1);
    client.ran(load.run(*duration));
    interrupt.reset();
  }
}

}  // namespace millrace::api
