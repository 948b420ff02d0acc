#include "millrace/measure.h"

#include <utility>

#include "face/access.h"
#include "face/call.h"
#include "face/convert.h"
#include "product/bench/bench.h"
#include "product/verify.h"
#include "runtime/bench/summary.h"

namespace millrace {
inline namespace v1 {
namespace {

/// The plan, by its name in the memory of `context`.
product::RunnableOptions runnable_of(const Plan& plan, const product::Context& context) {
  product::RunnableOptions runnable;
  runnable.model.source.file = Access::of(plan).name;
  runnable.model.context = context;
  return runnable;
}

/// Each plan of the bench under a name of its own.
std::shared_ptr<product::InMemory> memory_of(const Plan& plan, const BenchRequest& given,
                                         std::vector<std::string>& names) {
  auto memory = face::memory_of(plan);
  for (const Plan& other : given.beside) {
    const auto& parts = Access::of(other);
    std::string name = parts.name;
    while (memory->plans.count(name) > 0) name = "another " + name;
    memory->plans[name] = parts.file;
    memory->models[parts.file->origin.model.file] = Access::of(parts.model).network;
    names.push_back(name);
  }
  return memory;
}

BenchRow row_of(const product::BenchRow& row) {
  BenchRow result;
  result.name = row.name;
  result.fps = runtime::median_rate(row);
  for (const runtime::Load& load : row.rounds)
    result.fps_by_round.push_back(runtime::rate_of(load));
  if (const std::vector<Time> latencies = runtime::latencies(row); !latencies.empty()) {
    result.p50 = runtime::percentile(latencies, 0.5);
    result.p90 = runtime::percentile(latencies, 0.9);
    result.p99 = runtime::percentile(latencies, 0.99);
    result.largest = latencies.back();
  }
  result.start = row.deployed;
  result.first_frame = row.first;
  result.millijoules = runtime::millijoules(row);
  return result;
}

BenchReport report_of(const product::BenchResult& result) {
  BenchReport report;
  for (const product::BenchRow& row : result.rows) {
    report.rows.push_back(row_of(row));
    report.speedups.push_back(runtime::speedup(result, row));
  }
  for (std::size_t s = 0; s < result.stages.size(); ++s)
    report.stages.push_back({result.stages[s].name, runtime::median_alone(result, s),
                             runtime::busy_per_frame(result.stages[s]),
                             runtime::busy_share(result, s, report.plan().fps)});
  if (!result.stages.empty()) {
    report.bottleneck = runtime::bottleneck(result);
    report.share_of_stages = runtime::share_of_allowed(result);
  }
  report.in_flight = result.in_flight;
  return report;
}

Agreement agreement_of(const product::VerifiedPlan& plan) {
  if (plan.bit_equal) return Agreement::bit_equal;
  if (plan.within_tolerance) return Agreement::within_tolerance;
  if (plan.within_rounding) return Agreement::within_rounding;
  return plan.part_by_part ? Agreement::part_by_part : Agreement::differs;
}

}  // namespace

BenchReport bench(const Plan& plan) { return bench(plan, BenchRequest{}); }
Verification verify(const Plan& plan) { return verify(plan, VerifyRequest{}); }

BenchReport bench(const Plan& plan, const BenchRequest& given) {
  face::Call call(given.options);
  return face::guarded(call, [&] {
    product::BenchRequest request;
    const auto memory = memory_of(plan, given, request.beside);
    request.runnable = runnable_of(plan, call.context(memory));
    request.runnable.time_scale = given.time_scale;
    const auto loaded = product::load_runnable(request.runnable);
    request.runnable.model.source.seed = given.seed;
    request.duration_s = seconds(given.duration);
    request.warmup_s = seconds(given.warmup);
    request.rounds = given.rounds;
    request.in_flight = given.in_flight;
    request.baselines = given.baselines;
    return report_of(product::bench(*loaded, request));
  });
}

Verification verify(const Plan& plan, const VerifyRequest& given) {
  face::Call call(given.options);
  return face::guarded(call, [&] {
    product::VerifyRequest request;
    request.runnable = runnable_of(plan, call.context(face::memory_of(plan)));
    request.runnable.model.source.seed = given.seed;
    request.frames = face::frames_of(given.frames);
    request.mappings = given.random_mappings;
    request.against = given.against;
    request.tolerance = given.tolerance;
    const product::VerifyResult found = product::verify(request);
    Verification result{{}, found.why, found.nan_layer};
    for (const product::VerifiedPlan& each : found.plans)
      result.plans.push_back(
          {each.name, each.frames, each.error, agreement_of(each), each.amplifiers});
    return result;
  });
}

}  // namespace v1
}  // namespace millrace
