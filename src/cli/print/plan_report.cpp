#include "cli/print/plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include <nlohmann/json.hpp>

#include "cli/print/json_text.h"
#include "plan/build.h"
#include "plan/capacities.h"
#include "plan/steps.h"
#include "schedule/graph.h"

namespace millrace::cli {
namespace {

/// How many slots there are, and why.
std::string slots_text(const network::Network& network, const explore::Candidate& chosen) {
  const std::string now = millrace::to_text(plan::slot_bytes(chosen.plan, network));
  if (!chosen.smallest) return fmt::format("buffers: {}, sized by rule\n", now);
  const std::string rest =
      chosen.smallest->is_smallest()
          ? "the smallest"
          : fmt::format("no less than {} would", millrace::to_text(chosen.smallest->bound));
  return fmt::format("buffers: {} keep that throughput, {}; with slack for jitter {}\n",
                     millrace::to_text(chosen.smallest->total), rest, now);
}

nlohmann::json buffers_json(const network::Network& network, const explore::Candidate& chosen) {
  const auto& smallest = chosen.smallest;
  return {{"bytes", plan::slot_bytes(chosen.plan, network).count},
          {"smallest_bytes", smallest ? nlohmann::json(smallest->total.count) : nlohmann::json()},
          {"bound_bytes", smallest ? nlohmann::json(smallest->bound.count) : nlohmann::json()}};
}

}  // namespace

std::string proof_text(const network::Network& network, const explore::Candidate& chosen) {
  const auto graph = schedule::csdf_graph(chosen.plan, network);
  return fmt::format(
      "proof: the plan's CSDF graph ({} actors, {} channels) is consistent and live; at the "
      "predicted times it allows {:.1f} frames/s{}\n{}",
      graph.actors.size(), chosen.plan.channels.size(), 1 / seconds(chosen.bound),
      chosen.latency == Time{}
          ? ""
          : ", and frames that come at this pace take " + millrace::to_text(chosen.latency),
      (plan::is_shared(chosen.plan) ? "in turns; in fact whoever is free takes the next "
                                      "frame, which is no slower\n"
                                    : "") +
          slots_text(network, chosen));
}

std::string choice_json(const explore::Choice& choice, const network::Network& network,
                        const std::string& output) {
  nlohmann::json candidates = nlohmann::json::array();
  for (const explore::Candidate& c : choice.candidates)
    candidates.push_back({{"name", c.name},
                          {"bottleneck_ns", c.search.bottleneck},
                          {"fitness_ns", c.search.fitness},
                          {"bound_ns", c.bound.count()},
                          {"period_ns", c.plan.measured.count()},
                          {"latency_ns", c.latency.count()},
                          {"batch", c.batch},
                          {"epochs", c.search.epochs},
                          {"search_time_ns", c.search_time.count()}});
  const nlohmann::json json{{"lower_bound_ns", choice.lower_bound},
                            {"candidates", candidates},
                            {"chosen", choice.winner().name},
                            {"buffers", buffers_json(network, choice.winner())},
                            {"plan", output}};
  return json_text(json, 1);
}

std::string other_speed_text(const plan::Plan& plan, const std::string& model) {
  constexpr double alike = 1.25;                             // or its inverse
  constexpr Time noticeable = std::chrono::milliseconds(1);  // more than passing frames on
  for (const plan::Stage& stage : plan.stages) {
    if (std::min(stage.measured, stage.predicted) < noticeable) continue;
    const double ratio = seconds(stage.measured) / seconds(stage.predicted);
    if (ratio < alike && ratio > 1 / alike) continue;
    return fmt::format(
        "{} takes {} now, but {} by the profile: {} had another speed when that was measured; run "
        "'millrace profile {} --fresh' and plan again",
        stage.name, millrace::to_text(stage.measured), millrace::to_text(stage.predicted),
        stage.processor.name, model);
  }
  return {};
}

std::string processors_text(std::size_t count) {
  return fmt::format("{} processor{}", count, count == 1 ? "" : "s");
}

std::string too_slow_text(Time nearest, const std::string& max_latency) {
  return fmt::format("no plan is predicted to keep within --max-latency {}; the nearest takes {}",
                     max_latency, millrace::to_text(nearest));
}

std::string batch_text(const plan::Plan& plan, LayerId layer) {
  const plan::Endpoint place = plan::places_of_layers(plan)[layer.index];
  const std::int64_t batch = plan.stages[place.stage].phases[place.phase].batch;
  if (batch == 1) return "";
  const board::Variant variant =
      plan.variants.empty() ? board::Variant{} : plan.variants[layer.index];
  return fmt::format("  on {} frames at once, as {}; on one frame:\n", batch,
                     board::to_text(variant));
}

}  // namespace millrace::cli
