#include "present/results/planning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "application/application_file.h"
#include "base/excerpt.h"
#include "base/json_text.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "plan/build.h"
#include "plan/capacities.h"
#include "plan/steps.h"
#include "present/description.h"
#include "present/results/candidates.h"
#include "present/text/stages.h"
#include "present/text/variants.h"
#include "schedule/graph.h"

namespace millrace::present {
namespace {

/// How many slots there are, and why.
std::string slots_text(const network::Network& network, const explore::Candidate& chosen) {
  const std::string now = millrace::to_text(plan::slot_bytes(chosen.plan, network));
  if (!chosen.smallest)
    return fmt::format("buffers: {}, sized by a rule; the smallest size was not searched\n", now);
  const std::string rest =
      chosen.smallest->is_smallest()
          ? "less is not"
          : fmt::format("less than {} is not", millrace::to_text(chosen.smallest->bound));
  return fmt::format("buffers: {}; {} are enough at the predicted times, {}\n", now,
                     millrace::to_text(chosen.smallest->total), rest);
}

/// A line that says on how many frames at once the layer works, with `end` at its end. Empty if on
/// one.
std::string batch_text(const plan::Plan& plan, LayerId layer, std::string_view end) {
  const plan::Endpoint place = plan::places_of_layers(plan)[layer.index];
  const std::int64_t batch = plan.stages[place.stage].phases[place.phase].batch;
  if (batch == 1) return "";
  const board::Variant variant =
      plan.variants.empty() ? board::Variant{} : plan.variants[layer.index];
  return fmt::format("  on batches of {} frames, as {}{}\n", batch, board::to_text(variant), end);
}

/// What the plan's graph proves, and the slots of its channels.
std::string proof_text(const network::Network& network, const explore::Candidate& chosen) {
  const schedule::Schedule schedule = schedule::compile(chosen.plan);
  const auto graph = schedule::csdf_graph(schedule, network);
  return fmt::format(
      "proof: the plan cannot deadlock: its CSDF graph ({} actors, {} channels) is consistent and "
      "live; at the predicted times it allows {} frames/s{}\n{}",
      graph.actors.size(), schedule.channels.size(), four_digits(1 / seconds(chosen.bound)),
      chosen.latency == Time{}
          ? ""
          : ", and frames that come at this pace take " + millrace::to_text(chosen.latency),
      (plan::is_first_free(chosen.plan) ? "this is for frames in a fixed order, round robin; when "
                                          "the plan runs, the first free replica takes "
                                          "the next frame, which is not slower\n"
                                        : "") +
          slots_text(network, chosen));
}

/// How the mapping became a plan.
std::string built_text(const explore::Candidate& chosen) {
  Time all{};
  std::string steps;
  for (const plan::StepTime& each : chosen.built) {
    all += each.took;
    steps += fmt::format("{}{} {}", steps.empty() ? "" : ", ", each.step,
                         millrace::to_text(each.took));
  }
  return steps.empty() ? "" : fmt::format("built in {}: {}\n", millrace::to_text(all), steps);
}

/// By what the plan gains over that processor alone: measured if both were, else predicted.
std::string gain_text(const explore::Candidate& winner, const explore::Candidate& alone) {
  const std::string name = alone.plan.stages.front().processors.front().name;
  const bool are_measured = winner.evidence.period != Time{} && alone.evidence.period != Time{};
  const double gain = are_measured
                          ? seconds(alone.evidence.period) / seconds(winner.evidence.period)
                          : seconds(alone.bound) / seconds(explore::predicted_period(winner));
  return fmt::format("; {} gain over {} alone: {:.2f} times",
                     are_measured ? "measured" : "predicted", name, gain);
}

/// The winner, and whom it beats though that one was measured faster.
std::string chosen_text(const explore::Choice& choice) {
  const explore::Candidate& winner = choice.winner();
  const explore::Candidate* fastest = &winner;
  // A candidate that is clearly faster lost for another reason, such as its latency.
  for (const explore::Candidate& each : choice.candidates)
    if (each.evidence.period != Time{} && each.evidence.period < fastest->evidence.period &&
        seconds(each.evidence.period) > 0.9 * seconds(winner.evidence.period))
      fastest = &each;
  if (fastest == &winner) return winner.name;
  return fmt::format(
      "{}; {} is faster by less than the measurement can tell, and is larger or has "
      "a longer latency",
      winner.name, fastest->name);
}

/// Who runs how many layers, if several engines were measured.
std::string engines_line(const product::PlanResult& result, const product::PlanRequest& request) {
  const std::string text =
      request.board.empty() ? present::engines_text(result.engine, result.file.plan) : "";
  return text.empty() ? "" : fmt::format("engines: {}\n", text);
}

/// What to type next; empty: the plan was not written.
std::string next_text(const product::PlanRequest& request, const std::string& output) {
  if (output.empty()) return "";
  const std::string& source = request.setup.source.file;
  if (!request.board.empty())
    return fmt::format("next: millrace simulate {}\n", shell_word(output));
  return fmt::format("next: millrace {}\n",
                     application::is_application_file(source)
                         ? fmt::format("run {} ⟨plan⟩ {}", shell_word(source), shell_word(output))
                         : "bench " + shell_word(output));
}

/// "; one processor, one frame after the other: 57.3 frames/s".
std::string baseline_text(const explore::Choice& choice) {
  if (!choice.baseline_fps) return "";
  return fmt::format("; one processor, one frame after the other: {} frames/s",
                     four_digits(*choice.baseline_fps));
}

/// What both networks come to together, beside what all of it on one processor does.
std::string speed_with_crops(const product::PlanResult& result) {
  const product::PlannedCrops& crops = *result.crops;
  const bool is_measured = crops.period != Time{};
  std::string text = fmt::format("speed: {} frames/s {}, with {} in each",
                                 four_digits(1 / seconds(is_measured ? crops.period : crops.bound)),
                                 is_measured ? "measured" : "predicted",
                                 counted(static_cast<std::size_t>(crops.most), "crop"));
  const auto& all = result.attempts.back().shared->candidates;
  const auto alone = std::ranges::find_if(
      all, [](const explore::SharedCandidate& each) { return each.first.search.is_one_processor; });
  if (alone != all.end() && alone->first.plan.stages.size() == 1)
    text += fmt::format("; predicted gain over {} alone: {:.2f} times",
                        alone->first.plan.stages.front().processors.front().name,
                        seconds(alone->bound) / seconds(crops.bound));
  return text + "\n";
}

/// What the plan gains over the fastest processor alone, and what to type next.
std::string closing_text(const product::PlanResult& result, const product::PlanRequest& request,
                         const std::string& output) {
  const explore::Choice& choice = result.choice();
  const explore::Candidate& winner = choice.winner();
  if (winner.plan.stages.empty()) return "";  // all outputs are inputs or constants
  if (result.crops) return speed_with_crops(result) + next_text(request, output);
  const auto alone =
      std::ranges::find_if(choice.candidates, [](const explore::Candidate& candidate) {
        return candidate.search.is_one_processor;
      });
  const bool is_measured = winner.evidence.period != Time{};
  const double period =
      seconds(is_measured ? winner.evidence.period : explore::predicted_period(winner));
  std::string speed = fmt::format("{} frames/s {}", four_digits(1 / period),
                                  is_measured ? "measured" : "predicted");
  if (alone != choice.candidates.end() && &*alone != &winner) {
    speed += gain_text(winner, *alone);
  } else if (alone != choice.candidates.end() && result.board.processors.size() > 1) {
    speed += fmt::format("; no plan that was found is faster than {} alone",
                         alone->plan.stages.front().processors.front().name);
  }
  if (choice.application_fps)
    speed += fmt::format(
        "\nwith pre- and post-processing: {} frames/s predicted{}; all figures above are of the "
        "network alone",
        four_digits(*choice.application_fps), baseline_text(choice));
  return fmt::format("speed: {}\n{}", speed, next_text(request, output));
}

/// Why the layer is where it is.
std::string why_text(const product::PlanResult& result, const explore::LayerReasons& why) {
  const auto name = [&](LayerId layer) { return short_name(result.network[layer].name); };
  std::string text =
      fmt::format("\n{} runs on {}{}\n", name(why.layer), why.processor.name,
                  why.fused_with ? " in one kernel with " + name(*why.fused_with) : "");
  for (const std::string& reason : why.reasons)
    text += fmt::format("  {}\n", short_message(reason));
  const std::string others =
      alternatives_text(result.measured, why.processor, why.layer, why.variant);
  return text +
         batch_text(result.choice().winner().plan, why.layer,
                    others.empty() ? "" : "; on one frame:") +
         others;
}

/// "squeezenet: 66 layers on 2 processors with onednn".
std::string title_of(const product::PlanResult& result, const product::PlanRequest& request) {
  return fmt::format("{}: {} on {} {}", short_name(result.network.name),
                     counted(result.network.layers.size(), "layer"),
                     counted(result.board.processors.size(), "processor"),
                     request.board.empty() ? "with " + result.engine
                                           : "of " + result.board.name + ", with modelled times");
}

/// A line for each stage, with the longest predicted time of its replicas.
std::string brief_stages_text(const plan::PlanFile& file, std::string_view of = "a frame") {
  constexpr std::size_t most = 4;
  const std::vector<plan::Stage>& stages = file.plan.stages;
  std::string text;
  std::size_t actor = 0;
  for (std::size_t s = 0; s < std::min(stages.size(), most); ++s) {
    std::size_t layers = 0;
    for (const plan::Phase& phase : stages[s].phases) layers += phase.layers.size();
    const bool copies = plan::is_copying(stages[s]);
    std::vector<std::string> names;
    Time longest{};
    for (const board::Processor& processor : stages[s].processors) {
      names.push_back(processor.name);
      longest = std::max(longest, file.evidence.replicas[actor++].predicted);
    }
    text += fmt::format("{} on {}: {}, {} for {}\n", stages[s].name, fmt::join(names, ", "),
                        copies ? counted(stages[s].phases.size(), "transfer")
                               : counted(layers, "layer"),
                        millrace::to_text(longest), of);
  }
  if (stages.size() <= most) return text;
  return text + fmt::format("and {}\n", counted(stages.size() - most, "more stage"));
}

/// "crops: mobilenet, 3 times for each frame", and its stages.
std::string crops_text(const product::PlanResult& result) {
  if (!result.crops) return "";
  const product::PlannedCrops& crops = *result.crops;
  return fmt::format("crops: {}, {} for a frame, at most\n{}", short_name(crops.network.name),
                     counted(static_cast<std::size_t>(crops.runs), "run"),
                     brief_stages_text(crops.file, "a run"));
}

std::string written_text(const std::string& output) {
  return output.empty() ? "" : fmt::format("written: {}\n", printable(output));
}

nlohmann::json buffers_json(const network::Network& network, const explore::Candidate& chosen) {
  const auto& smallest = chosen.smallest;
  return {{"bytes", plan::slot_bytes(chosen.plan, network).count},
          {"smallest_bytes", smallest ? nlohmann::json(smallest->total.count) : nlohmann::json()},
          {"bound_bytes", smallest ? nlohmann::json(smallest->bound.count) : nlohmann::json()}};
}

nlohmann::json reasons_json(const product::PlanResult& result) {
  nlohmann::json all = nlohmann::json::array();
  const auto name = [&](LayerId layer) { return result.network[layer].name; };
  for (const explore::LayerReasons& why : result.why)
    all.push_back(
        {{"layer", name(why.layer)},
         {"processor", why.processor.name},
         {"fused_with", or_null(why.fused_with ? name(*why.fused_with) : "")},
         {"variant", board::to_text(why.variant)},
         {"reasons", why.reasons}});
  return all;
}

nlohmann::json engines_json(const product::PlanResult& result) {
  nlohmann::json engines = nlohmann::json::array();
  for (const auto& [name, layers] : layers_by_engine(result.file.plan))
    engines.push_back({{"name", name}, {"layers", layers}});
  return engines;
}

/// Null without crops.
nlohmann::json crops_json(const product::PlanResult& result) {
  if (!result.crops) return nullptr;
  const product::PlannedCrops& crops = *result.crops;
  return {{"network", crops.network.name},
          {"at_most", crops.most},
          {"runs", crops.runs},
          {"bound_ns", crops.bound.count()},
          {"period_ns", crops.period.count()}};
}

}  // namespace

std::string attempts_text(const product::PlanResult& result) {
  std::string text;
  for (const product::PlanAttempt& attempt : result.attempts) {
    if (attempt.precisions) text += precisions_text(result.network, *attempt.precisions) + "\n";
    if (attempt.loss) text += fmt::format("loss: {}\n\n", loss_text(*attempt.loss));
    if (attempt.choice && !attempt.choice->in_time) text += candidates_text(*attempt.choice) + "\n";
  }
  return text;
}

std::string plan_answer(const product::PlanResult& result, const product::PlanRequest& request,
                        const std::string& output) {
  const explore::Choice& choice = result.choice();
  std::string text =
      fmt::format("{}\nchosen: {}\n{}{}", title_of(result, request), chosen_text(choice),
                  engines_line(result, request), brief_stages_text(result.file));
  if (choice.winner().bound > Time{})
    text += fmt::format("proof: it cannot deadlock; at the predicted times it allows {} frames/s\n",
                        four_digits(1 / seconds(choice.winner().bound)));
  for (const explore::LayerReasons& why : result.why) text += why_text(result, why);
  return text + crops_text(result) + written_text(output) + closing_text(result, request, output) +
         "-v shows candidates, stages, variants and buffers\n";
}

std::string plan_text(const product::PlanResult& result, const product::PlanRequest& request,
                      const std::string& output) {
  const explore::Choice& choice = result.choice();
  std::string text =
      fmt::format("{}\n\n{}\nchosen: {}\n{}\n{}\n{}\n{}", title_of(result, request),
                  candidates_text(choice), chosen_text(choice), engines_line(result, request),
                  groups_text(result.file.plan, result.network),
                  stages_text(result.file.plan, result.file.evidence, result.network),
                  proof_text(result.network, choice.winner()) + built_text(choice.winner()));
  for (const explore::LayerReasons& why : result.why) text += why_text(result, why);
  if (result.crops)
    text += fmt::format("\n{}{}", crops_text(result),
                        stages_text(result.crops->file.plan, result.crops->file.evidence,
                                    result.crops->network));
  return text + "\n" + written_text(output) + closing_text(result, request, output);
}

std::string planning_json(const product::PlanResult& result, const std::string& output) {
  const auto& choice = result.attempts.back().choice;
  const auto& precisions = result.attempts.back().precisions;
  nlohmann::json fields = {{"network", result.network.name},
                           {"precisions", nullptr},
                           {"why", reasons_json(result)},
                           {"candidates", nlohmann::json::array()},
                           {"lower_bound_ns", nullptr},
                           {"chosen", nullptr},
                           {"buffers", nullptr},
                           {"plan", nullptr},
                           {"measured_engines", result.engine},
                           {"engines", nlohmann::json::array()},
                           {"crops", nullptr},
                           {"refusal", nullptr}};
  if (precisions) fields["precisions"] = precisions_json(result.network, *precisions);
  if (choice) {
    fields["candidates"] = candidates_json(*choice, result.network);
    fields["lower_bound_ns"] = choice->lower_bound;
  }
  if (!result.refusal.empty()) {
    fields["refusal"] = result.refusal;
    return json_document("planning", std::move(fields));
  }
  fields["chosen"] = choice->winner().name;
  fields["engines"] = engines_json(result);
  fields["crops"] = crops_json(result);
  fields["buffers"] = buffers_json(result.network, choice->winner());
  if (!output.empty()) fields["plan"] = output;
  return json_document("planning", std::move(fields));
}

}  // namespace millrace::present
