#include "present/results/candidates.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/steps.h"
#include "present/description.h"
#include "product/planning/report.h"

namespace millrace::present {
namespace {

using explore::Candidate;
using explore::LoweringCost;

Time whole_nanoseconds(double ns) { return Time(static_cast<std::int64_t>(ns)); }

/// In JSON nanoseconds.
Value nanoseconds(double ns) { return {ns, millrace::to_text(whole_nanoseconds(ns))}; }
Value nanoseconds(Time time) { return {time.count(), millrace::to_text(time)}; }

bool has_period(const Candidate& c) { return c.evidence.period != Time{}; }

/// Predicted among measured ones: with a mark.
std::string marked_rate_text(const Candidate& c, bool has_measured) {
  const Time period = has_period(c) ? c.evidence.period : explore::predicted_period(c);
  return (has_measured && !has_period(c) ? "~" : "") + four_digits(1 / seconds(period));
}

Description<Candidate> candidate_fields(const explore::Choice& choice,
                                        const network::Network* network) {
  const bool has_measured = std::ranges::any_of(choice.candidates, has_period);
  const char* const latency = choice.winner().latency != Time{} ? "latency" : nullptr;
  const auto above_bound = [&](const Candidate& c) {
    return Value::share(c.search.bottleneck / choice.lower_bound - 1).text;
  };
  const auto period = [](const Candidate& c) {
    const Value value = nanoseconds(c.evidence.period);
    return has_period(c) ? value : Value{value.json, "-"};
  };
  return Description<Candidate>({
      {"name", "search", &Candidate::name},
      {"bottleneck_ns", "slowest stage",
       [](const Candidate& c) { return nanoseconds(c.search.bottleneck); }},
      {"", "above lower bound", above_bound, Align::right},
      {"bound_ns", "per frame: predicted", [](const Candidate& c) { return nanoseconds(c.bound); }},
      {"period_ns", "measured", period},
      {"", "frames/s",
       [=](const Candidate& c) { return marked_rate_text(c, has_measured); }, Align::right},
      {"", latency, &Candidate::latency},
      {"", "stages", [](const Candidate& c) { return plan::actors_in(c.plan); }},
      {"", "phases", [](const Candidate& c) { return plan::phases_in(c.plan); }},
      {"search_time_ns", "search time",
       [](const Candidate& c) { return nanoseconds(c.search_time); }},
      {"epochs", "epochs",
       [](const Candidate& c) {
         return Value{c.search.epochs, c.search.epochs > 0 ? fmt::to_string(c.search.epochs) : ""};
       }},
      {"fitness_ns", nullptr, [](const Candidate& c) { return c.search.fitness; }},
      {"latency_ns", nullptr,
       [=](const Candidate& c) { return product::latency_of(c, *network).count(); }},
      {"batch", nullptr, &Candidate::batch},
  });
}

/// For people with two digits after the point.
std::string hundredths_text(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string error_text(double error) { return fmt::format("{:.3g} %", 100 * error); }

nlohmann::json loss_json(const profile::Loss& loss) {
  return {{"measure", loss.measure.empty() ? "answers" : loss.measure},
          {"changed_share", loss.changed_share()},
          {"mean_error", loss.mean_error},
          {"largest_error", loss.largest_error}};
}

Description<LoweringCost> precision_fields(const network::Network& network,
                                           const explore::PrecisionChoice& choice) {
  const auto is_taken = [&](const LoweringCost& cost) {
    return choice.precisions[cost.lowering.layer.index] == cost.lowering.precision;
  };
  return Description<LoweringCost>({
      {"layer", "layer", [&](const auto& cost) { return network[cost.lowering.layer].name; }},
      {"precision", "in", [](const auto& cost) { return to_text(cost.lowering.precision); }},
      {"saved_ns", "saves", [](const auto& cost) { return nanoseconds(cost.lowering.saved_ns); }},
      {"loss", "loss",
       [](const auto& cost) {
         return Value{loss_json(cost.loss), hundredths_text(cost.loss.changed_share())};
       }},
      {"", "mean error", [](const auto& cost) { return error_text(cost.loss.mean_error); },
       Align::right},
      {"", "largest error", [](const auto& cost) { return error_text(cost.loss.largest_error); },
       Align::right},
      {"taken", "taken", is_taken, Align::left},
  });
}

}  // namespace

std::string candidates_text(const explore::Choice& choice) {
  const auto& all = choice.candidates;
  return candidate_fields(choice, nullptr).text(all) +
         (std::ranges::any_of(all, has_period) && !std::ranges::all_of(all, has_period)
              ? "~: predicted, the others are measured\n"
              : "") +
         fmt::format("lower bound: no mapping has a slowest stage below {}\n",
                     nanoseconds(choice.lower_bound).text);
}

nlohmann::json candidates_json(const explore::Choice& choice, const network::Network& network) {
  return candidate_fields(choice, &network).array(choice.candidates);
}

std::string precisions_text(const network::Network& network,
                            const explore::PrecisionChoice& choice) {
  return precision_fields(network, choice).text(choice.costs) +
         fmt::format("together: saves {} per frame; {}\n", nanoseconds(choice.saved_ns).text,
                     loss_text(choice.loss));
}

nlohmann::json precisions_json(const network::Network& network,
                               const explore::PrecisionChoice& choice) {
  return {{"within_budget", choice.within_budget},
          {"saved_ns", choice.saved_ns},
          {"frames", choice.loss.frames},
          {"loss", loss_json(choice.loss)},
          {"layers", precision_fields(network, choice).array(choice.costs)}};
}

std::string loss_text(const profile::Loss& loss) {
  if (loss.fall)
    return fmt::format(
        "the {} falls by {} on {} frames, {} of {} are no longer right; the outputs are off by {} "
        "on average and {} at most",
        loss.measure, hundredths_text(*loss.fall), loss.frames, loss.changed, loss.answers,
        error_text(loss.mean_error), error_text(loss.largest_error));
  return fmt::format(
      "{} of {} answers ({}) on {} frames change, the outputs are off by {} on average and {} at "
      "most",
      loss.changed, loss.answers, hundredths_text(loss.changed_share()), loss.frames,
      error_text(loss.mean_error), error_text(loss.largest_error));
}

}  // namespace millrace::present
