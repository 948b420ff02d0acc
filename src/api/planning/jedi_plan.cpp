#include "api/planning/jedi_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "api/setup.h"
#include "api/simulated_board.h"
#include "explore/candidates.h"
#include "explore/configuration/configuration.h"
#include "network/read.h"
#include "plan/variants.h"
#include "profile/cost_model.h"
#include "profile/select.h"

namespace millrace::api {
namespace {

using application::jedi::Imported;
using application::jedi::Instance;
using application::jedi::Stage;

std::vector<ProcessorId> of_kind(const board::Board& board, board::ProcessorKind kind) {
  std::vector<ProcessorId> result;
  for (std::size_t p = 0; p < board.processors.size(); ++p)
    if (board.processors[p].kind == kind) result.emplace_back(p);
  return result;
}

/// Who runs each stage; nobody where the board has no such processor.
std::vector<explore::ProcessorGroup> groups_on(const board::Board& board,
                                               const std::vector<Stage>& stages) {
  constexpr std::int64_t cores_of_jedi = 2;  // its boards have two DLAs; from this number on, all
  const auto gpus = of_kind(board, board::ProcessorKind::gpu);
  const auto dlas = of_kind(board, board::ProcessorKind::npu);
  std::vector<explore::ProcessorGroup> groups;
  for (const Stage& stage : stages) {
    explore::ProcessorGroup& group = groups.emplace_back();
    const auto core = static_cast<std::size_t>(stage.core);
    if (!stage.on_dla && !gpus.empty()) group = {gpus.front()};
    if (stage.on_dla && core < dlas.size()) group = {dlas[core]};
    if (stage.on_dla && core >= dlas.size() && stage.core >= cores_of_jedi) group = dlas;
  }
  return groups;
}

Verdict can_place(const board::Board& board, const std::vector<Stage>& stages,
                  const std::vector<explore::ProcessorGroup>& groups) {
  std::set<ProcessorId> alone, in_turns;
  for (std::size_t s = 0; s < groups.size(); ++s) {
    if (groups[s].empty())
      return Verdict::no(fmt::format(
          "{} has no {} for stage {}; name a board that has, such as --board jetson-agx-xavier",
          board.name, stages[s].on_dla ? fmt::format("DLA {}", stages[s].core) : "GPU", s));
    (groups[s].size() > 1 ? in_turns : alone).insert(groups[s].begin(), groups[s].end());
  }
  for (const ProcessorId each : in_turns)
    if (alone.contains(each))
      return Verdict::no(
          fmt::format("{} is a replica in one stage and works alone in another; a "
                      "plan cannot express that",
                      board[each].name));
  return Verdict::yes();
}

struct ModelPieces {
  network::Network network;
  std::vector<std::size_t> cuts;
};

network::ModelSource model_of(const Imported& imported) {
  return {.file = imported.model, .shapes = imported.shapes};
}

ModelPieces model_pieces_of(const Instance& instance, const Imported& imported) {
  if (network::format_of(imported.model) == network::Format::onnx)
    return {network::read_network(model_of(imported)), {}};
  network::darknet::Model model = network::darknet::read_darknet(model_of(imported));
  std::vector<std::size_t> cuts = last_layers(model, imported.stages, instance);
  return {std::move(model.network), std::move(cuts)};
}

/// Each layer in its stage's precision.
profile::Profile profile_of(const ModelPieces& pieces, const board::Board& board,
                            const std::vector<Stage>& stages) {
  std::vector<board::Precision> wanted, by_layer;
  for (const Stage& stage : stages)
    if (std::find(wanted.begin(), wanted.end(), stage.precision) == wanted.end())
      wanted.push_back(stage.precision);
  for (std::size_t layer = 0, stage = 0; layer < pieces.network.layers.size(); ++layer) {
    while (stage < pieces.cuts.size() && layer > pieces.cuts[stage]) ++stage;
    by_layer.push_back(stages[stage].precision);
  }
  const profile::Profile all = profile::modelled(pieces.network, board, wanted);
  return profile::select_by_layer(all, by_layer);
}

/// What the wanted processors cannot run, in one sentence for each reason.
void note_moved(const explore::SearchContext& search_context,
                const explore::Configuration& configuration, std::vector<std::string>& notes) {
  const plan::Mapping mapping = mapping_of(search_context, configuration);
  std::map<std::string, std::vector<std::string>> layers;
  for (std::size_t layer = 0, stage = 0; layer < mapping.processors.size(); ++layer) {
    while (stage < configuration.cuts.size() && layer > configuration.cuts[stage]) ++stage;
    const ProcessorId wanted = configuration.stages[stage].front();
    if (mapping.processors[layer] == wanted) continue;
    layers[fmt::format(
               "run on {} instead of {}: {}", search_context.board[mapping.processors[layer]].name,
               search_context.board[wanted].name, search_context.problem.refusal(layer, wanted))]
        .push_back(search_context.network.layers[layer].name);
  }
  for (const auto& [why, names] : layers)
    notes.push_back(fmt::format("{} layers, from {} on, {}", names.size(), names.front(), why));
}

plan::Origin origin_of(const profile::Profile& profile, const Imported& imported,
                       const std::string& board, const std::string& cpu) {
  plan::Origin origin;
  origin.network = profile.network;
  origin.board = profile.board;
  origin.model = network::absolute(model_of(imported));
  origin.version = MILLRACE_VERSION;
  origin.imported_from = "JEDI";
  origin.board_name = board;
  origin.board_cpu = cpu;
  std::error_code ignored;
  if (std::filesystem::exists(board, ignored))
    origin.board_file = std::filesystem::absolute(board).lexically_normal();
  return origin;
}

/// As an application's file says it.
application::ByHand by_hand_of(const Imported& imported,
                               const std::vector<explore::ProcessorGroup>& groups,
                               const ModelPieces& pieces, const board::Board& board) {
  application::ByHand mapping;
  for (const explore::ProcessorGroup& group : groups) {
    std::string& device = mapping.devices.emplace_back();
    for (const ProcessorId each : group) device += (device.empty() ? "" : "+") + board[each].name;
  }
  for (const std::size_t cut : pieces.cuts)
    mapping.cut_points.push_back(pieces.network.layers[cut].name);
  for (const Stage& stage : imported.stages) mapping.precisions.push_back(stage.precision);
  for (const Stage& stage : imported.stages) mapping.streams.push_back(stage.streams);
  mapping.slots = imported.slots;
  return mapping;
}

}  // namespace

JediPlan make_jedi_plan(const Instance& instance, const Imported& imported,
                        const std::string& of_board) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(imported.model, ignored))
    return {Verdict::no(fmt::format("its network '{}' is not here", imported.model.string()))};
  const bool is_onnx = network::format_of(imported.model) == network::Format::onnx;
  if (is_onnx && imported.stages.size() > 1)
    return {
        Verdict::no("cut_points of an ONNX file count the layers that TensorRT makes of it, "
                    "which the file does not tell; `millrace plan --search cut-points` finds "
                    "cut points")};
  ModelPieces pieces = model_pieces_of(instance, imported);
  const board::Board board = load_board({.source = {}}, of_board);
  const std::vector<explore::ProcessorGroup> groups = groups_on(board, imported.stages);
  if (Verdict verdict = can_place(board, imported.stages, groups); !verdict) return {verdict};
  const profile::Profile profile = profile_of(pieces, board, imported.stages);
  const explore::Problem problem = explore::make_problem(pieces.network, board, profile);
  const plan::BuildOptions build;
  const explore::SearchContext search_context{pieces.network, board, problem, build};
  explore::Configuration configuration{groups, pieces.cuts, imported.slots};
  for (const Stage& stage : imported.stages) configuration.streams.push_back(stage.streams);
  explore::Realised realised = explore::realise(search_context, configuration);
  if (!realised.verdict) return {realised.verdict};
  JediPlan result;
  note_moved(search_context, configuration, result.notes);
  const plan::Plan plan = plan::with_variants(
      realised.plan,
      explore::variants_for(problem, mapping_of(search_context, configuration), nullptr));
  result.file = {simulated_where_not_here(plan, board),
                 origin_of(profile, imported, of_board, board.cpu_model),
                 std::move(realised.evidence)};
  result.mapping = by_hand_of(imported, groups, pieces, board);
  result.mapping.board = of_board;
  result.network = std::move(pieces.network);
  return result;
}

std::string application_of(const Imported& imported, const JediPlan& plan) {
  if (!plan.mapping.is_given()) return imported.application;
  nlohmann::ordered_json application = nlohmann::ordered_json::parse(imported.application);
  nlohmann::ordered_json mapping;
  const application::ByHand& stages = plan.mapping;
  if (!stages.board.empty()) mapping["board"] = stages.board;
  mapping["devices"] = stages.devices;
  if (!stages.cut_points.empty()) mapping["cut_points"] = stages.cut_points;
  for (const board::Precision each : stages.precisions)
    mapping["precisions"].push_back(board::to_text(each));
  if (!stages.streams.empty()) mapping["streams"] = stages.streams;
  mapping["slots"] = *stages.slots;
  application["mapping"] = mapping;
  return application.dump();
}

}  // namespace millrace::api
