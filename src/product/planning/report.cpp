#include "product/planning/report.h"

#include <algorithm>

#include "analysis/rate.h"
#include "application/application_file.h"
#include "plan/build.h"
#include "product/open_model.h"
#include "profile/profile_file.h"
#include "simulate/simulate.h"

namespace millrace::product {
namespace {

/// Rounds enough to see the pipeline fill and repeat itself.
std::int64_t frames_to_show(const plan::Plan& plan) {
  constexpr std::int64_t rounds = 6, least = 24, most = 384;
  return std::clamp(rounds * plan::round_of(plan), least, most);
}

Trace predicted_round(const Analysis& analysis) {
  const plan::PhaseTimes times = plan::predicted_times(analysis.plan(), analysis.evidence());
  if (times.empty()) return {};
  simulate::Application application{
      .name = analysis.plan().network_name,
      .plan = analysis.plan(),
      .durations = simulate::predicted_durations(analysis.plan(), analysis.evidence()),
      .borders = plan::border_times(analysis.plan(), analysis.evidence())};
  application.frames = frames_to_show(analysis.plan());
  application.release.in_flight =
      analysis::enough_in_flight(analysis.plan(), analysis.network(), times);
  simulate::Options options;
  options.traced_frames = application.frames;
  return simulate::run({application}, options).trace;
}

}  // namespace

PlanReport report_plan(const AnalyzeRequest& request,
                       const std::vector<std::string>& profiles) {
  PlanReport report{analyze(request), {}};
  report.round = predicted_round(report.analysis);
  const std::string hash = network::hash_of(report.analysis.network());
  for (const std::string& file : profiles)
    if (auto profile = profile::read_profile(file); profile.network == hash)
      report.profiles.push_back(std::move(profile));
  return report;
}

ApplicationReport report_application(const std::string& file, const Context& context) {
  ApplicationReport report{application::read_application(file), {}};
  report.network = open_model(report.application.model, context);
  if (report.application.crops)
    report.of_crops = open_model(report.application.crops->model, context);
  return report;
}

Time latency_of(const explore::Candidate& candidate, const network::Network& network) {
  if (candidate.latency > Time{}) return candidate.latency;
  const auto times = plan::predicted_times(candidate.plan, candidate.evidence);
  return analysis::latency_bound(candidate.plan, network, times, candidate.bound).value_or(Time{});
}

}  // namespace millrace::product
