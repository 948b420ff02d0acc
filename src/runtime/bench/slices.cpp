#include "runtime/bench/slices.h"

#include "base/interrupt.h"

namespace millrace::runtime {

void serve_slices(const Loaded& loaded, const BenchOptions& bench, const SliceClient& client) {
  const Time warmup = time_from_seconds(bench.warmup_s);
  // A signal that comes during a slice ends it; one that comes in between ends the process.
  std::optional<InterruptGuard> interrupt;
  LoadOptions options;
  options.seed = client.seed;
  options.in_flight = in_flight_of(bench, {loaded.plan, loaded.evidence}, loaded.network);
  options.between = [&] { interrupt->check(); };
  Session session = deploy(loaded.plan, loaded.network, loaded.engine_pointers());
  client.ready(first_latency(session, loaded.network, options.seed));
  IntermittentLoad load(std::move(session), loaded.network, options);
  while (const std::optional<Time> duration = client.next()) {
    interrupt.emplace(loaded.context.interrupt);
    if (warmup > Time{}) load.run(warmup, 1);
    client.ran(load.run(*duration));
    interrupt.reset();
  }
}

}  // namespace millrace::runtime
