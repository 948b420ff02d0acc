#include "millrace/measure.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "face/access.h"
#include "face/call.h"
#include "face/convert.h"
#include "face/verbs.h"
#include "product/analyze.h"
#include "product/simulate.h"

namespace millrace {
inline namespace v1 {
namespace {

simulate::Arrivals arrivals_of(Arrivals arrivals) {
  switch (arrivals) {
    case Arrivals::periodic:
      return simulate::Arrivals::periodic;
    case Arrivals::poisson:
      return simulate::Arrivals::poisson;
    case Arrivals::closed:
      break;
  }
  return simulate::Arrivals::closed;
}

simulate::Policy policy_of(ProcessorPolicy policy) {
  switch (policy) {
    case ProcessorPolicy::fifo_by_layer:
      return simulate::Policy::fifo_by_kernel;
    case ProcessorPolicy::preemptive:
      return simulate::Policy::preemptive;
    case ProcessorPolicy::fifo_by_phase:
      break;
  }
  return simulate::Policy::fifo_by_subnet;
}

std::optional<Duration> rounded_up(const std::optional<dataflow::Fraction>& nanoseconds) {
  if (!nanoseconds) return std::nullopt;
  return Duration(static_cast<Duration::rep>(std::ceil(nanoseconds->value())));
}

std::optional<double> sum_of(const std::vector<board::DeviceEnergy>& energy) {
  if (energy.empty()) return std::nullopt;
  double sum = 0;
  for (const board::DeviceEnergy& device : energy) sum += device.together_mj();
  return sum;
}

/// Each plan under a name of its own.
product::SimulateRequest simulate_request(const std::vector<SimulatedPlan>& plans,
                                const SimulateRequest& given, face::Call& call) {
  product::SimulateRequest request;
  auto memory = std::make_shared<product::InMemory>();
  for (const SimulatedPlan& each : plans) {
    const auto& parts = Access::of(each.plan);
    std::string name = parts.name;
    while (memory->plans.count(name) > 0) name = "another " + name;
    memory->plans[name] = parts.file;
    memory->models[parts.file->origin.model.file] = Access::of(parts.model).network;
    product::SimulatedPlan& plan = request.plans.emplace_back();
    plan.file = name;
    plan.release = {arrivals_of(each.arrivals), each.period, each.jitter, each.in_flight};
    plan.deadline = each.deadline;
  }
  request.context = call.context(std::move(memory));
  request.frames = given.frames;
  request.enough_in_flight = std::all_of(plans.begin(), plans.end(), [](const SimulatedPlan& plan) {
    return plan.in_flight == 0;
  });
  request.drawn = given.best != 1 || given.worst != 1;
  request.best = given.best;
  request.worst = given.worst;
  request.options.seed = given.seed;
  request.options.others.policy = policy_of(given.policy);
  request.options.others.scale = given.scale;
  return request;
}

SimulatedResult result_of(const simulate::Simulated& simulated, std::size_t a) {
  const simulate::ApplicationResult& from = simulated.result.applications[a];
  SimulatedResult result;
  result.name = from.name;
  result.frames = from.frames;
  result.fps = from.throughput();
  if (from.latencies.count() > 0) {
    result.p50 = from.latencies.percentile(0.5);
    result.p99 = from.latencies.percentile(0.99);
    result.largest = from.latencies.maximum();
  }
  result.missed = from.missed;
  if (const auto& bound = simulated.bounds[a])
    result.bound = Duration(static_cast<Duration::rep>(std::floor(bound->value())));
  return result;
}

Simulation simulation_of(const simulate::Simulated& simulated) {
  Simulation result;
  for (std::size_t a = 0; a < simulated.result.applications.size(); ++a)
    result.plans.push_back(result_of(simulated, a));
  result.elapsed = simulated.result.elapsed;
  for (const simulate::ProcessorResult& processor : simulated.result.processors)
    result.processors.push_back(
        {processor.name, seconds(processor.busy) / seconds(simulated.result.elapsed)});
  result.millijoules = sum_of(simulated.energy);
  return result;
}

}  // namespace

Analysis analyze(const Plan& plan) { return analyze(plan, Options{}); }

Analysis analyze(const Plan& plan, const Options& options) {
  face::Call call(options);
  return face::guarded(call, [&] {
    product::AnalyzeRequest request;
    request.plan = Access::of(plan).name;
    request.context = call.context(face::memory_of(plan));
    const product::Analysis found = product::analyze(request);
    Analysis result;
    result.period = rounded_up(product::proven_period(found.proof));
    result.latency = found.proof.latency;
    for (const analysis::CriticalPhase& phase : found.proof.critical)
      result.critical.push_back({phase.name, phase.time, phase.then});
    result.buffer_bytes = found.proof.slots.count;
    if (found.proof.smallest) {
      result.least_buffer_bytes = found.proof.smallest->total.count;
      result.is_least = found.proof.smallest->is_smallest();
    }
    result.millijoules = sum_of(found.energy);
    return result;
  });
}

}  // namespace v1

Simulation face::make_simulation(const std::vector<SimulatedPlan>& plans,
                                 const SimulateRequest& given) {
  Call call(given.options);
  return guarded(call, [&] {
    return simulation_of(product::simulate_plans(simulate_request(plans, given, call)));
  });
}

}  // namespace millrace
