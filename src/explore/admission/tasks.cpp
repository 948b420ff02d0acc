#include "explore/admission/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "board/clusters.h"
#include "deployment/deployment.h"
#include "system/core_for_steps.h"

namespace millrace::explore {
namespace {

constexpr double usual_margin = 1.2;

/// The groups of the scenario, or all.
std::vector<system::GroupId> groups_of(const system::System& system, const std::string& scenario) {
  std::vector<system::GroupId> groups;
  if (scenario.empty()) {
    for (std::size_t g = 0; g < system.groups.size(); ++g) groups.emplace_back(g);
    return groups;
  }
  for (const system::Scenario& each : system.scenarios)
    if (each.name == scenario) return each.groups;
  throw InputError("⟨scenario⟩", fmt::format("the system has no scenario '{}'", scenario));
}

/// In millijoules, of one activation; empty where the board does not say what a processor draws.
std::vector<double> energies(const Elements& elements,
                             const AdmissionTask& task) {
  std::vector<double> result;
  for (std::size_t p = 0; p < elements.elements.size(); ++p) {
    const Element& element = elements.elements[p];
    const board::Device* device = device_of(element.board, element.board.processors[0]);
    if (device == nullptr || device->power.empty()) return {};
    result.push_back(task.times[p] ? device->power.back().busy.value * element.amount *
                                         seconds(*task.times[p])
                                   : 0);
  }
  return result;
}

/// InputError for what is no network alone: its tasks would run nowhere.
void check_is_network(const system::Group& group) {
  if (!group.graph.empty())
    throw InputError(group.place,
                     fmt::format("group '{}' has a task graph, and only networks are admitted; "
                                 "'millrace deploy' decides for both",
                                 group.name));
}

/// A static table has each job at its place in the cycle.
void check_is_periodic(const system::Group& group) {
  if (group.budget)
    throw InputError(group.place,
                     fmt::format("group '{}' has {}, and static tables know none; 'millrace "
                                 "deploy' decides for it",
                                 group.name, system::to_text(*group.budget)));
  if (group.events.is_periodic() && group.events.offset == Time{}) return;
  throw InputError(group.place,
                   fmt::format("group '{}' has {}, and static tables need periodic groups without "
                               "offsets; 'millrace deploy' decides for it",
                               group.name, system::to_text(group.events)));
}

/// Their steps take time on a core that no table has.
void note_steps(const Context& context, const system::System& system,
                const std::vector<system::GroupId>& groups) {
  std::string names;
  for (const system::GroupId id : groups) {
    const system::Group& group = system[id];
    if (group.application.empty() && !group.preprocess && !group.postprocess) continue;
    names += (names.empty() ? "'" : ", '") + group.name + "'";
  }
  if (!names.empty())
    context.note("the steps before and after the networks of " + names +
                         " are not counted; 'millrace deploy' counts them");
}

/// The processors that are meant by a time that the user knows.
std::vector<std::size_t> processors_meant(const system::KnownTime& known,
                                          const AdmitDecision& result) {
  std::vector<std::size_t> meant;
  std::vector<std::string_view> names;
  for (std::size_t p = 0; p < result.problem.processors.size(); ++p) {
    const Element& element = result.elements.elements[p];
    const std::string& name = result.problem.processors[p].name;
    names.push_back(name);
    const std::string kind = element.kind + (element.parts == 1 ? ".alone" : ".together");
    if (name == known.processor || kind == known.processor) meant.push_back(p);
  }
  if (meant.empty())
    throw InputError(
        known.place,
        fmt::format("the board '{}' has no '{}'{}; 'admit ⟨json⟩' names all that it has",
                    result.board_name, known.processor, did_you_mean(known.processor, names)));
  return meant;
}

GroupVariants known_variants(const system::Group& group, const AdmitDecision& result) {
  GroupVariants variants;
  const std::size_t count = result.problem.processors.size();
  variants.variants.resize(count, {.refusal = "has no time in the system file"});
  variants.layers.resize(count);
  for (const system::KnownTime& known : group.times)
    for (const std::size_t p : processors_meant(known, result)) {
      VariantTime& variant = variants.variants[p];
      const bool has_transfers = known.in > Time{} || known.out > Time{};
      if (has_transfers && !result.problem.processors[p].link)
        throw InputError(known.place,
                         fmt::format("'{}' has no link for transfers; leave out 'in_ms' "
                                     "and 'out_ms'",
                                     result.problem.processors[p].name));
      if (variant.time && *variant.time <= known.worst) continue;
      variant = {known.worst, known.precision, {}, {known.in, known.out}};
    }
  return variants;
}

/// By number of task, of those asked for.
void add_reads(const system::Group& group, AdmissionProblem& problem,
               AdmissionTask& task) {
  task.end_to_end = group.end_to_end;
  for (const std::string& name : group.after) {
    const auto found = std::ranges::find(problem.tasks, name, &AdmissionTask::name);
    if (found == problem.tasks.end())
      throw InputError(group.place, fmt::format("group '{}' is after '{}', which is not in the "
                                                "scenario",
                                                group.name, name));
    task.after.push_back(static_cast<std::size_t>(found - problem.tasks.begin()));
  }
}

/// Times of networks that several groups have are found out once.
class VariantsOfGroups {
 public:
  VariantsOfGroups(const AdmissionQuestion& question, const AdmitDecision& decision)
      : question_(question), decision_(decision) {}

  GroupVariants of(const system::Group& group) {
    if (!group.times.empty()) return known_variants(group, decision_);
    const network::Network& network = question_.network_of(group);
    std::string key = network::hash_of(network);
    for (board::Precision precision : group.precisions) key += to_text(precision);
    auto [found, is_new] = known_.try_emplace(key);
    if (is_new)
      for (const Element& element : decision_.elements.elements)
        add_variant(network, group, element, found->second);
    return found->second;
  }

 private:
  /// How long the network takes on the configuration.
  void add_variant(const network::Network& network, const system::Group& group,
                   const Element& element, GroupVariants& variants) const {
    if (decision_.modelled) {
      VariantTime time = modelled_variant(network, element, question_.board, group.precisions);
      const double margin = question_.options.margin.value_or(usual_margin);
      if (time.time) *time.time = deployment::stretched(*time.time, margin);
      for (Time* transfer : {&time.transfers.in, &time.transfers.out})
        *transfer = deployment::stretched(*transfer, margin);
      variants.variants.push_back(std::move(time));
      return;
    }
    MeasuredVariant one =
        fastest_measured(question_.measure(network, group, element.board), group.precisions);
    variants.variants.push_back(std::move(one.time));
    variants.layers.push_back(std::move(one.layers));
  }

  const AdmissionQuestion& question_;
  const AdmitDecision& decision_;
  std::map<std::string, GroupVariants> known_;  // groups often have the same network
};

}  // namespace

Elements elements_of_this_machine(const board::Board& board) {
  Elements result;
  for (const board::Processor& processor : board.processors) {
    if (processor.kind != board::ProcessorKind::cpu) continue;
    result.problem.units.push_back(processor.name);
    result.problem.processors.push_back({processor.name, {result.problem.units.size() - 1}});
    result.elements.push_back({"cpu", 1, 1, board::only(board, {processor.name})});
  }
  const std::size_t cores = result.elements.size();
  for (const board::Processor& cluster : board::joined_clusters(board)) {
    SharedProcessor all{cluster.name, {}};
    for (std::size_t unit = 0; unit < cores; ++unit)
      if (std::ranges::count(cluster.cores, result.elements[unit].board.processors[0].cores[0]) > 0)
        all.units.push_back(unit);
    if (all.units.size() < 2) continue;
    result.elements.push_back({"cpu", all.units.size(), static_cast<double>(all.units.size()),
                               board::only(board, {all.name})});
    result.problem.processors.push_back(std::move(all));
  }
  return result;
}

MeasuredVariant fastest_measured(const profile::Profile& profile,
                                 const std::vector<board::Precision>& precisions) {
  MeasuredVariant best{{.refusal = "was not measured"}, {}};
  for (const profile::ProcessorProfile& each : profile.processors) {
    const bool asked = std::ranges::find(precisions, each.precision) != precisions.end();
    if (!asked || (best.time.time && each.whole.worst_case >= *best.time.time)) continue;
    best = {{each.whole.worst_case, each.precision, {}}, {}};
    for (const profile::LayerTimes& layer : each.layers) best.layers.push_back(layer.variant);
  }
  return best;
}

void add_tasks(const AdmissionQuestion& question, AdmitDecision& result) {
  const std::vector<system::GroupId> groups = groups_of(result.system, question.options.scenario);
  note_steps(question.context, result.system, groups);
  const auto work = question.context.begin("Times of variants");
  double done = 0;
  VariantsOfGroups times(question, result);
  for (const system::GroupId id : groups) {
    const system::Group& group = result.system[id];
    check_is_network(group);
    check_is_periodic(group);
    system::check_core_for_steps(group, question.board);
    work->show(done++ / static_cast<double>(groups.size()), group.name);
    AdmissionTask task{
        group.name, period_of(result.system, id, result.system.levels - 1), {}, {}};
    task.deadline = deadline_of(result.system, id, result.system.levels - 1);
    GroupVariants variants = times.of(group);
    variants.name = group.name;
    variants.system = result.system.file;
    for (const VariantTime& variant : variants.variants) {
      task.times.push_back(variant.time);
      task.transfers.push_back(variant.transfers);
    }
    task.energy = energies(result.elements, task);
    result.groups.push_back(std::move(variants));
    result.problem.tasks.push_back(std::move(task));
  }
  for (std::size_t t = 0; t < groups.size(); ++t)
    add_reads(result.system[groups[t]], result.problem, result.problem.tasks[t]);
}

}  // namespace millrace::explore
