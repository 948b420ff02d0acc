#include "present/text/deployment_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "present/text/table.h"

namespace millrace::present {
namespace {

std::string allowed_text(const Verdict& verdict, const char* yes) {
  return verdict ? yes : verdict.reason();
}

std::string energy_text(const product::DeploymentRun& run) {
  if (run.energy_source.empty()) return {};
  const std::string measured =
      run.measured_mj ? fmt::format("{:.3g} J by {}", *run.measured_mj / 1000, run.energy_source)
                      : fmt::format("not measured: {}", run.energy_source);
  const std::string expected =
      run.expected_mj ? fmt::format("; {:.3g} J expected", *run.expected_mj / 1000) : "";
  return fmt::format("energy       {}{}\n", measured, expected);
}

std::string run_head_text(const product::DeploymentRun& run) {
  const auto& record = run.record;
  const auto& transitions = record.transitions;
  std::string text = fmt::format("drive        {:.3g} s, {} transitions asked for ({}){}\n",
                                 seconds(record.elapsed), transitions.wished,
                                 run.script.empty() ? fmt::format("seed {}", run.seed) : run.script,
                                 run.interrupted ? ", interrupted" : "");
  text += transitions.done + transitions.replaced == 0
              ? "transitions  none\n"
              : fmt::format(
                    "transitions  {} done, {} replaced by a later one; the longest took {}, "
                    "{} were allowed at most; {} took longer than allowed\n",
                    transitions.done, transitions.replaced, to_text(transitions.longest),
                    to_text(transitions.longest_bound), transitions.beyond_bound);
  if (transitions.level_changes > 0)
    text += fmt::format("overload     the level changed {} times by the policy lower_rate\n",
                        transitions.level_changes);
  for (const product::Addition& each : run.additions)
    text += fmt::format("added        at {:.3g} s, {}{}{}: {}, after {}\n", seconds(each.at),
                        each.file, each.groups.empty() ? "" : ": ", fmt::join(each.groups, ", "),
                        each.refusal.empty() ? std::string("admitted") : "refused: " + each.refusal,
                        to_text(each.took));
  text +=
      fmt::format("releases     at most {} late, {} in 99 % of all\n",
                  to_text(record.lateness.largest()), to_text(record.lateness.percentile(0.99)));
  text += fmt::format("priorities   {}\nmemory       {}\n",
                      allowed_text(record.priorities, "real-time"),
                      allowed_text(record.locked_memory, "locked"));
  for (const std::string& clock : record.clocks_that_stay) text += "clock stays  " + clock + "\n";
  return text + energy_text(run);
}

std::string groups_text(const product::DeploymentRun& run) {
  Table table({{"group", Align::left},
               {"frames due"},
               {"done"},
               {"skipped"},
               {"late begin"},
               {"missed"},
               {"lost"},
               {"response: p50"},
               {"p90"},
               {"p99"},
               {"maximum"},
               {"preempted"}});
  for (const runtime::GroupRecord& group : run.record.groups) {
    const schedule::FrameCounts& frames = group.frames;
    std::vector<std::string> cells{group.name};
    for (const std::int64_t count :
         {frames.due, frames.done, frames.skipped, frames.stretched, frames.missed, frames.lost()})
      cells.push_back(fmt::to_string(count));
    for (const double share : {0.5, 0.9, 0.99, 1.0})
      cells.push_back(group.responses.count() == 0 ? "-"
                                                   : to_text(group.responses.percentile(share)));
    cells.push_back(fmt::to_string(group.preemptions));
    table.add(std::move(cells));
  }
  return table.text();
}

/// What went into groups with an application, and how often nothing new had come.
std::string deliveries_text(const product::DeploymentRun& run) {
  Table table({{"input", Align::left},
               {"pictures"},
               {"used"},
               {"dropped"},
               {"waiting at the end"},
               {"cannot be read"},
               {"gaps"},
               {"longest"},
               {"times read"}});
  std::string notes;
  for (const application::DeliveryTotals& each : run.deliveries) {
    for (const application::InputTotals& input : each.inputs)
      table.add({input.name.empty() ? each.group : each.group + ", " + input.name,
                 fmt::to_string(input.queue.put), fmt::to_string(input.frames),
                 fmt::to_string(input.queue.dropped), fmt::to_string(input.waiting),
                 fmt::to_string(input.skipped), fmt::to_string(input.gaps.count),
                 input.gaps.count > 0 ? to_text(input.gaps.longest) : "-",
                 fmt::to_string(input.passes)});
    const application::FeedCounts& counts = each.counts;
    if (counts.repeated + counts.without_input > 0)
      notes += fmt::format("{}: {} frames had no new picture, {} came before the first one\n",
                           each.group, counts.repeated, counts.without_input);
    if (counts.undelivered > 0)
      notes += fmt::format("{}: {} results were lost, as writing them took too long\n", each.group,
                           counts.undelivered);
  }
  if (run.deliveries.empty()) return {};
  return table.text() + notes + "\n";
}

/// The bounds beside what was measured.
std::string bounds_text(const product::DeploymentRun& run) {
  Table table({{"scenario", Align::left},
               {"level"},
               {"group", Align::left},
               {"frames"},
               {"maximum"},
               {"bound, controller included"},
               {"within it", Align::left},
               {"deadline"}});
  const system::System& system = run.deployment.system;
  for (std::size_t g = 0; g < run.record.groups.size(); ++g)
    for (const runtime::OperationRecord& each : run.record.groups[g].operations) {
      const auto bound = run.bound(g, each);
      const Time deadline = deadline_of(system, system::GroupId(g), each.at.level);
      table.add({system[each.at.scenario].name, fmt::to_string(each.at.level),
                 run.record.groups[g].name, fmt::to_string(each.frames.done),
                 each.frames.done > 0 ? to_text(each.largest) : "-",
                 bound ? to_text(*bound) : "none",
                 !bound                   ? "-"
                 : each.largest <= *bound ? "yes"
                                          : "no",
                 to_text(deadline)});
    }
  return table.text();
}

/// Why a response may be longer than its bound, as far as that is known; empty: none is.
std::string beyond_bounds_text(const product::DeploymentRun& run) {
  if (run.holds()) return "";
  Time stolen{};
  for (const runtime::ProcessorRecord& each : run.record.processors) stolen += each.stolen;
  std::vector<std::string> reasons;
  if (stolen > Time{})
    reasons.push_back(fmt::format("the host took {} of the cores' time, which no analysis covers",
                                  to_text(stolen)));
  if (!run.record.priorities) reasons.push_back("the threads had no real-time priorities");
  if (!run.record.locked_memory) reasons.push_back("the memory was not locked");
  if (reasons.empty())
    reasons.push_back("a task took longer than its worst time, so measure again with `deploy`");
  return fmt::format("'no': a response was longer than the proven bound; possible reason: {}\n",
                     fmt::join(reasons, ", or "));
}

std::string cores_text(const product::DeploymentRun& run) {
  Table table({{"processor", Align::left}, {"busy"}, {"stolen by the host"}});
  for (const runtime::ProcessorRecord& each : run.record.processors)
    table.add({each.name,
               fmt::format("{:.1f} %",
                           100 * seconds(each.busy) / std::max(1e-9, seconds(run.record.elapsed))),
               to_text(each.stolen)});
  std::string text = table.text();
  if (run.real_time_limit)
    text += fmt::format("the system lets real-time threads have {:.0f} % of a core\n",
                        100 * *run.real_time_limit);
  return text;
}

}  // namespace

std::string deployment_run_text(const product::DeploymentRun& run) {
  return run_head_text(run) + "\n" + groups_text(run) + "\n" + deliveries_text(run) +
         bounds_text(run) +
         beyond_bounds_text(run) + "\n" + cores_text(run);
}

}  // namespace millrace::present
