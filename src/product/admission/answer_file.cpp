#include "product/admission/answer_file.h"

#include <filesystem>

#include "base/json_text.h"

namespace millrace::product {
namespace {

using Json = nlohmann::json;

const char* answer_text(explore::Admission::Answer answer) {
  switch (answer) {
    case explore::Admission::Answer::fits:
      return "fits";
    case explore::Admission::Answer::does_not_fit:
      return "does_not_fit";
    case explore::Admission::Answer::unknown:
      break;
  }
  return "unknown";
}

Json task_json(const AdmitResult& result, const explore::AdmissionProblem& as_run, std::size_t t) {
  const explore::AdmissionTask& task = result.problem.tasks[t];
  Json variants = Json::array();
  for (std::size_t p = 0; p < task.times.size(); ++p) {
    Json variant{{"processor", result.problem.processors[p].name}};
    if (task.times[p]) {
      variant["time_ns"] = task.times[p]->count();
      variant["precision"] = to_text(result.groups[t].variants[p].precision);
      const explore::LinkTimes transfers = transfers_of(task, p);
      if (transfers.in > Time{}) variant["in_ns"] = transfers.in.count();
      if (transfers.out > Time{}) variant["out_ns"] = transfers.out.count();
    } else {
      variant["refusal"] = result.groups[t].variants[p].refusal;
    }
    variants.push_back(std::move(variant));
  }
  Json row{{"name", task.name},
           {"period_ns", task.period.count()},
           {"deadline_ns", task.deadline.count()},
           {"variants", std::move(variants)}};
  if (!result.groups[t].system.empty())
    row["system"] = std::filesystem::absolute(result.groups[t].system).string();
  for (const std::size_t before : task.after)
    row["after"].push_back(result.problem.tasks[before].name);
  if (task.end_to_end) row["end_to_end_ns"] = task.end_to_end->count();
  if (result.fits()) {
    const std::size_t processor = result.admission.choice[t];
    row["processor"] = result.problem.processors[processor].name;
    row["utilisation"] = utilisation(as_run.tasks[t], processor).value();
    if (result.table) row["table_period_ns"] = as_run.tasks[t].period.count();
  }
  return row;
}

Json units_json(const AdmitResult& result, const explore::AdmissionProblem& as_run) {
  Json units = Json::array();
  const std::vector<double> loads = result.fits()
                                        ? loads_of(as_run, result.admission.choice)
                                        : std::vector<double>(result.problem.units.size(), 0);
  for (std::size_t u = 0; u < loads.size(); ++u)
    units.push_back({{"name", result.problem.units[u]}, {"load", loads[u]}});
  return units;
}

Json processors_json(const AdmitResult& result) {
  Json processors = Json::array();
  for (std::size_t p = 0; p < result.problem.processors.size(); ++p) {
    const explore::SharedProcessor& processor = result.problem.processors[p];
    Json units = Json::array();
    for (std::size_t unit : processor.units) units.push_back(result.problem.units[unit]);
    processors.push_back({{"name", processor.name},
                          {"kind", result.elements.elements[p].kind},
                          {"units", std::move(units)}});
    if (processor.link) processors.back()["link"] = result.problem.units[*processor.link];
  }
  return processors;
}

Json table_json(const AdmitResult& result) {
  Json entries = Json::array();
  for (const realtime::TableEntry& entry : result.table->entries)
    entries.push_back({{"task", result.table_tasks[entry.task].name},
                       {"job", entry.job},
                       {"begin_ns", entry.begin.count()},
                       {"end_ns", entry.end.count()},
                       {"part", to_text(entry.part)}});
  return {{"cycle_ns", result.table->cycle.count()},
          {"frame_ns", result.table->frame.count()},
          {"harmonised", result.is_harmonised},
          {"added_utilisation", result.added_utilisation},
          {"refused_choices", result.refused},
          {"keeps_running", result.keeps_table},
          {"entries", std::move(entries)}};
}

Json played_json(const AdmitResult& result, const runtime::Played& played) {
  Json groups = Json::array();
  for (std::size_t t = 0; t < played.tasks.size(); ++t) {
    const runtime::PlayedTask& task = played.tasks[t];
    groups.push_back({{"name", result.table_tasks[t].name},
                      {"jobs", task.all.jobs},
                      {"overruns", task.overruns},
                      {"disturbed_overruns", task.disturbed_overruns},
                      {"skipped", task.skipped},
                      {"missed", task.missed},
                      {"mean_ns", task.all.mean().count()},
                      {"largest_ns", task.all.largest.count()},
                      {"response_ns", task.latest.count()}});
  }
  return {{"elapsed_ms", milliseconds(played.elapsed)},
          {"stopped", played.stopped},
          {"stolen_ms", milliseconds(played.stolen)},
          {"groups", std::move(groups)}};
}

Json misfit_json(const AdmitResult& result) {
  Json names = Json::array();
  for (std::size_t task : result.misfit->tasks) names.push_back(result.problem.tasks[task].name);
  return {{"groups", std::move(names)},
          {"remedies", remedies_text(result.problem, result.misfit->remedies)},
          {"proven", result.misfit->is_proven}};
}

}  // namespace

std::string admission_json(const AdmitResult& result, const PlayedAdmission* played) {
  const explore::AdmissionProblem as_run = result.as_run();
  Json tasks = Json::array();
  for (std::size_t t = 0; t < result.problem.tasks.size(); ++t)
    tasks.push_back(task_json(result, as_run, t));
  Json fields{{"system", result.system.file},
              {"board", result.board_name},
              {"times", result.modelled ? "modelled" : "measured"},
              {"answer", answer_text(result.admission.answer)},
              {"cost", result.admission.cost},
              {"bound", result.admission.bound},
              {"relaxed", result.admission.relaxed},
              {"decided_ms", milliseconds(result.took)},
              {"rounds", result.rounds},
              {"groups", std::move(tasks)},
              {"processors", processors_json(result)},
              {"units", units_json(result, as_run)}};
  if (result.table) fields["table"] = table_json(result);
  if (!result.no_table.empty()) fields["no_table"] = result.no_table;
  if (!result.moved.empty()) fields["moved"] = result.moved;
  if (result.handed_over)
    fields["handed_over"] = {{"at_ns", result.handed_over->at.count()},
                             {"prepared_ns", result.handed_over->prepared.count()}};
  if (result.misfit) fields["misfit"] = misfit_json(result);
  if (played != nullptr) fields["played"] = played_json(result, played->played);
  return json_document("admission", std::move(fields));
}

}  // namespace millrace::product
