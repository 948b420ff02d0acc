#include "millrace/plan.h"

#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "explore/configuration/search.h"
#include "face/access.h"
#include "face/call.h"
#include "face/convert.h"
#include "present/html/page.h"
#include "product/open_model.h"
#include "product/planning/report.h"
#include "schedule/read_plan.h"

namespace millrace {
inline namespace v1 {
namespace {

std::optional<Duration> known(Time time) {
  if (time == Time{}) return std::nullopt;
  return time;
}

std::string plan_name(const std::string& path) {
  return path.size() > 5 && path.compare(path.size() - 5, 5, ".json") == 0 ? path : path + ".json";
}

Plan plan_of(const std::string& path, const Model& model, const Options& options) {
  return Access::make<Plan>(
      model,
      std::make_shared<const plan::PlanFile>(schedule::read_plan(path, *Access::of(model).network)),
      plan_name(path), std::vector<Candidate>{}, options, path);
}

std::vector<PhaseInfo> phases_of(const plan::Plan& plan, const plan::Stage& stage,
                                 const plan::ReplicaEvidence* evidence) {
  std::vector<PhaseInfo> result;
  for (std::size_t p = 0; p < stage.phases.size(); ++p) {
    PhaseInfo& phase = result.emplace_back();
    for (const LayerId layer : stage.phases[p].layers)
      phase.layers.push_back(plan.layer_names.at(layer.index));
    phase.offset = stage.phases[p].offset;
    phase.batch = stage.phases[p].batch;
    if (evidence != nullptr && p < evidence->phases.size()) phase.predicted = evidence->phases[p];
  }
  return result;
}

/// With all that it needs, but its threads.
std::shared_ptr<Access::Impl<Session>> deployed(const Plan& plan, const SessionOptions& options) {
  const auto& parts = Access::of(plan);
  const auto call = std::make_shared<face::Call>(options.options);
  auto impl = std::make_shared<Access::Impl<Session>>(call);
  const product::Context context = impl->call->context(face::memory_of(plan));
  impl->loaded = product::load_plan(parts.name, {}, {context, options.time_scale});
  impl->session.emplace(runtime::deploy(*impl->loaded, impl->loaded->plan, parts.name,
                                    {.pin = options.pin, .interrupt = call.get()}));
  return impl;
}

/// The options of the plan where the session's name no engines of their own.
SessionOptions completed(SessionOptions options, const Options& of_plan) {
  options.options.engine_libraries.insert(of_plan.engine_libraries.begin(),
                                          of_plan.engine_libraries.end());
  for (const auto& [engine, settings] : of_plan.engine_settings)
    options.options.engine_settings[engine].insert(settings.begin(), settings.end());
  return options;
}

}  // namespace

std::vector<std::string> search_names() { return explore::search_names(); }

Plan Plan::from_file(const std::string& path) { return from_file(path, Options{}); }

Plan Plan::from_file(const std::string& path, const Model& model) {
  return face::guarded([&] { return plan_of(path, model, {}); });
}

Plan Plan::from_file(const std::string& path, const Options& options) {
  face::Call call(options);
  return face::guarded(call, [&] {
    formats::ModelSource source = product::model_of_plan(path);
    auto network =
        std::make_shared<const network::Network>(product::open_model(source, call.context()));
    return plan_of(path, Access::make<Model>(std::move(source), std::move(network)), options);
  });
}

void Plan::write(const std::string& path) const {
  face::guarded(
      [&] { plan::write_plan(path, *impl()->file, *Access::of(impl()->model).network); });
}

void Plan::report(const std::string& path) const {
  face::Call call(impl()->options);
  face::guarded(call, [&] {
    const product::Context context = call.context(face::memory_of(*this));
    const auto report = product::report_plan({.plan = impl()->name, .context = context});
    write_file(path, present::report_page({present::report_part(report)}));
  });
}

const Model& Plan::model() const { return impl()->model; }

std::vector<StageInfo> Plan::stages() const {
  const auto& [plan, origin, evidence] = *impl()->file;
  std::vector<StageInfo> result;
  std::size_t replica = 0;
  for (const plan::Stage& stage : plan.stages) {
    const plan::ReplicaEvidence* known_of =
        replica < evidence.replicas.size() ? &evidence.replicas[replica] : nullptr;
    StageInfo& info = result.emplace_back();
    info.name = stage.name;
    info.engine = stage.engine;
    for (const board::Processor& processor : stage.processors)
      info.processors.push_back(processor.name);
    info.phases = phases_of(plan, stage, known_of);
    if (known_of != nullptr) {
      info.predicted = known(known_of->predicted);
      info.measured = known(known_of->measured);
    }
    replica += stage.processors.size();
  }
  return result;
}

std::optional<Duration> Plan::predicted_period() const {
  for (const Candidate& candidate : impl()->candidates)
    if (candidate.chosen) return candidate.predicted_period;
  return std::nullopt;
}

std::optional<Duration> Plan::measured_period() const {
  return known(impl()->file->evidence.period);
}

std::vector<Candidate> Plan::candidates() const { return impl()->candidates; }

Session Plan::start() const { return start(SessionOptions{}); }

Session Plan::start(std::function<void(Result)> take) const {
  return start(std::move(take), SessionOptions{});
}

Session Plan::start(const SessionOptions& options) const {
  return face::guarded([&] {
    return Access::of_shared<Session>(deployed(*this, completed(options, impl()->options)));
  });
}

Session Plan::start(std::function<void(Result)> take, const SessionOptions& options) const {
  return face::guarded([&] {
    auto running = deployed(*this, completed(options, impl()->options));
    runtime::Session& session = *running->session;
    const auto next = [&session, take = std::move(take)]() -> std::optional<runtime::Job> {
      auto result = session.next();
      if (!result) return std::nullopt;
      return runtime::Job{[] {},
                          [&take, kept = std::make_shared<runtime::Result>(std::move(*result))] {
                            take({kept->frame, face::frame_of(std::move(kept->outputs)),
                                  kept->latency});
                            return true;
                          }};
    };
    running->taking = std::make_unique<runtime::Pool>(next, runtime::PoolOptions{"results"});
    return Access::of_shared<Session>(std::move(running));
  });
}

}  // namespace v1
}  // namespace millrace
