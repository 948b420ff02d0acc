#include "present/text/admission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "present/results/admission.h"
#include "present/text/table.h"

namespace millrace::present {
namespace {

std::vector<std::string> precisions_of(const product::AdmitResult& result) {
  std::vector<std::string> precisions;
  for (std::size_t t = 0; t < result.groups.size(); ++t)
    precisions.emplace_back(
        to_text(result.groups[t].variants[result.admission.choice[t]].precision));
  return precisions;
}

}  // namespace

std::string admission_answer(const product::AdmitResult& result, const std::string& goal) {
  const explore::Admission& admission = result.admission;
  if (!result.fits()) return {};
  const std::vector<std::string> precisions = precisions_of(result);
  const explore::AdmissionProblem as_run = result.as_run();
  std::string text = admission_text({result.problem, admission.choice, precisions, as_run});
  text += fmt::format("\nfits        on {}, with {} times{}; decided in {}\n", result.board_name,
                      result.modelled ? "modelled" : "measured",
                      result.is_table_lacking ? ", by utilisation only" : "", to_text(result.took));
  if (!result.moved.empty()) text += fmt::format("moved       {}\n", fmt::join(result.moved, ", "));
  if (goal != "any")
    text += fmt::format(
        "{:<12}{:.4g}{}, {}\n", goal == "largest-load" ? "load" : goal, admission.cost,
        goal == "energy" ? " mJ a second" : "",
        admission.is_optimal()
            ? fmt::format("the least {}; {:.4g} without whole numbers",
                          result.stays ? "while what runs stays" : "there is", admission.relaxed)
            : fmt::format("at least {:.4g} is needed", admission.bound));
  if (result.table)
    text += fmt::format(
        "table       {} entries, again every {}{}\n", result.table->entries.size(),
        to_text(result.table->cycle),
        result.table->frame > Time{} ? ", in frames of " + to_text(result.table->frame) : "");
  if (result.refused > 0 && result.table)
    text +=
        fmt::format("            {} that would cost less {} no table\n",
                    result.refused == 1 ? "1 choice" : fmt::format("{} choices", result.refused),
                    result.refused == 1 ? "has" : "have");
  if (result.keeps_table) text += "            each entry of what runs is where it was\n";
  if (result.handed_over)
    text += fmt::format("handed over {} after the start there, after {} to prepare\n",
                        to_text(result.handed_over->at), to_text(result.handed_over->prepared));
  if (result.is_harmonised) text += "            periods are shorter than asked for\n";
  if (result.rounds > 0)
    text += fmt::format("            run {} x to measure the networks beside each other\n",
                        result.rounds);
  if (result.added_utilisation > 0)
    text += fmt::format("            shorter periods add {:.3g} to the utilisation\n",
                        result.added_utilisation);
  return text;
}

std::string admission_refusal(const product::AdmitResult& result) {
  if (!result.misfit && result.admission.answer == explore::Admission::Answer::does_not_fit)
    return "the groups do not fit as long as what runs stays where it is";
  if (!result.misfit)
    return "whether the groups fit is not known: the time for the program ran out; allow more with "
           "⟨search_time⟩";
  std::vector<std::string> names;
  for (std::size_t task : result.misfit->tasks)
    names.push_back(fmt::format("'{}'", result.problem.tasks[task].name));
  const std::string remedies = remedies_text(result.problem, result.misfit->remedies);
  return fmt::format(
      "{}{} not fit on {}{}{}", fmt::join(names, ", "),
      names.size() == 1 ? " does" : " together do", result.board_name,
      remedies.empty() ? "; no single change of a period, a time or a unit helps"
                       : "; each of these would help: " + remedies,
      result.misfit->is_proven
          ? ""
          : "; time ran out for some sets, so that fewer of them may not fit either");
}

std::string played_text(const runtime::Played& played, const product::AdmitResult& result) {
  Table table({{"group", Align::left},
               {"jobs"},
               {"overruns"},
               {"by the host"},
               {"skipped"},
               {"mean"},
               {"largest"},
               {"planned"},
               {"response"},
               {"deadline"}});
  for (std::size_t t = 0; t < played.tasks.size(); ++t) {
    const runtime::PlayedTask& task = played.tasks[t];
    const realtime::TableTask& planned = result.table_tasks[t];
    table.add({planned.name, std::to_string(task.all.jobs), std::to_string(task.overruns),
               std::to_string(task.disturbed_overruns), std::to_string(task.skipped),
               to_text(task.all.mean()), to_text(task.all.largest), to_text(planned.worst),
               to_text(task.latest), to_text(planned.deadline)});
  }
  std::string text = table.text() + fmt::format("\nran         {}", to_text(played.elapsed));
  if (played.stopped) text += ", until the first overrun";
  if (played.stolen > Time{})
    text += fmt::format("; the host took {} of the cores meanwhile", to_text(played.stolen));
  return text + "\n";
}

}  // namespace millrace::present
