#include "product/planning/notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/quantity.h"
#include "base/shell_word.h"
#include "formats/fixed_inputs.h"
#include "schedule/schedule.h"

namespace millrace::product {
namespace {

/// The options by which `profile` reads the model that the plan was made of.
std::string model_arguments(const formats::ModelSource& source) {
  std::string text;
  for (const auto& shape : source.shapes) {
    formats::ModelSource one;
    one.shapes.insert(shape);
    text += " ⟨shape⟩ " + shell_word(formats::shapes_text(one));
  }
  for (const std::string& value : formats::fixed_texts(source))
    text += " ⟨fix⟩ " + shell_word(value);
  if (source.size) text += fmt::format(" ⟨size⟩ {}", *source.size);
  if (!source.weights.empty()) text += " ⟨weights⟩ " + shell_word(source.weights.string());
  if (source.seed != formats::ModelSource{}.seed) text += fmt::format(" ⟨seed⟩ {}", source.seed);
  return text;
}

/// Joined cores have a profile of their own, also where `plan` joined them by itself.
std::string processor_arguments(const Setup& setup, const board::Board& board) {
  bool are_named = !setup.processors.empty();
  std::vector<std::string> names;
  for (const board::Processor& processor : board.processors) {
    are_named = are_named || processor.cores.size() > 1;
    const bool has_gap = processor.name.find(',') != std::string::npos;
    names.push_back(has_gap ? fmt::format("core{}", fmt::join(processor.cores, "+core"))
                            : processor.name);
  }
  return are_named ? fmt::format(" ⟨processors⟩ {}", fmt::join(names, ",")) : "";
}

std::string engine_arguments(const Setup& setup) {
  std::string text;
  if (!setup.engine.empty()) text += " ⟨engine⟩ " + setup.engine;
  for (const auto& [name, file] : setup.context.libraries)
    text += " ⟨engine_library⟩ " + shell_word(name + "=" + file.string());
  for (const auto& [name, settings] : setup.context.settings)
    for (const auto& [key, value] : settings)
      text += " ⟨engine_option⟩ " + shell_word(fmt::format("{}.{}={}", name, key, value));
  return text;
}

/// Without int8, whose ranges only `plan` knows: it measures what the profile lacks.
std::string variant_arguments(const VariantOptions& variants) {
  std::vector<std::string> names;
  for (const board::Precision each : variants.precisions)
    if (each != board::Precision::int8) names.push_back(board::to_text(each));
  std::string text = names.empty() ? "" : fmt::format(" ⟨precision⟩ {}", fmt::join(names, ","));
  if (variants.max_error) text += fmt::format(" ⟨max_error⟩ {}", *variants.max_error);
  return text;
}

/// Measures anew what the plan was made from.
std::string profile_command(const PlanRequest& request, const board::Board& board) {
  const Setup& setup = request.setup;
  std::string text = "millrace profile " + shell_word(setup.source.file) +
                     model_arguments(setup.source) + processor_arguments(setup, board) +
                     engine_arguments(setup) + variant_arguments(request.variants);
  if (request.max_latency && request.max_batch > 1) text += " ⟨batches⟩";
  if (!request.profile.empty()) text += " ⟨output⟩ " + shell_word(request.profile);
  return text + " ⟨fresh⟩";
}

}  // namespace

void check_search_reads_options(const PlanRequest& request) {
  const std::string& method = request.search.method;
  if (method == "auto" || method.find("genetic") != std::string::npos) return;
  const explore::GeneticOptions usual, given = request.genetic;
  const std::array<std::pair<const char*, bool>, 6> options{{
      {"⟨population⟩", given.population != usual.population},
      {"⟨epochs⟩", given.epochs != usual.epochs},
      {"⟨mutation⟩", given.mutation != usual.mutation},
      {"⟨contiguous⟩", given.contiguous != usual.contiguous},
      {"⟨patience⟩", given.patience != usual.patience},
      {"⟨fitness⟩", given.aim.fitness != usual.aim.fitness},
  }};
  for (const auto& [name, is_given] : options)
    if (is_given)
      throw InputError(name, fmt::format("is for the genetic search, but ⟨search⟩ is {}; leave it "
                                         "out, or use ⟨search⟩ genetic",
                                         method));
}

std::string other_speed_text(const PlanRequest& request, const PlanResult& result) {
  constexpr double alike = 1.25;                             // or its inverse
  constexpr Time noticeable = std::chrono::milliseconds(1);  // more than passing frames on
  auto evidence = result.file.evidence.replicas.begin();
  for (const schedule::Actor& actor : schedule::compile(result.file.plan).actors) {
    const plan::ReplicaEvidence& found = *evidence++;
    if (std::min(found.measured, found.predicted) < noticeable) continue;
    const double ratio = seconds(found.measured) / seconds(found.predicted);
    if (ratio < alike && ratio > 1 / alike) continue;
    return fmt::format(
        "{} takes {} now, but {} in the profile: {} is {} now, or was {} then; stop other "
        "programs, {}plan again",
        actor.name, millrace::to_text(found.measured), millrace::to_text(found.predicted),
        actor.processor.name, ratio > 1 ? "slower" : "faster", ratio > 1 ? "faster" : "slower",
        request.setup.context.cache || !request.profile.empty()
            ? fmt::format("run '{}' and ", profile_command(request, result.board))
            : "and ");
  }
  return {};
}

std::string refusal_of(const PlanRequest& request, const explore::Choice& choice, Time nearest) {
  if (choice.in_time) return {};
  return fmt::format(
      "no plan has a predicted latency within ⟨max_latency⟩ {}; the nearest takes {}",
      duration_text(*request.max_latency), to_text(nearest));
}

}  // namespace millrace::product
