#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "plan/build.h"
#include "plan/plan_file.h"

namespace millrace::plan {
namespace {

std::set<int> cores_of(const Plan& plan) {
  std::set<int> cores;
  for (const Stage& stage : plan.stages)
    for (const board::Processor& processor : stage.processors)
      cores.insert(processor.cores.begin(), processor.cores.end());
  return cores;
}

}  // namespace

void check_cores(const Plan& plan) {
  struct Owner {
    const Stage* stage;
    const board::Processor* processor;
    std::string name;
  };
  std::map<int, Owner> owners;
  const auto has_streams = [](const Stage& stage, const board::Processor& processor) {
    return streams_on(stage, processor) > 1;
  };
  const auto take = [&](int core, const Owner& next) {
    const auto [found, fresh] = owners.try_emplace(core, next);
    const Owner& owner = found->second;
    const bool is_shared =
        *owner.processor == *next.processor &&
        (owner.stage == next.stage || has_streams(*owner.stage, *owner.processor) ||
         has_streams(*next.stage, *next.processor));
    if (fresh || is_shared) return;
    throw InputError(next.name, fmt::format("core {} is used by {} too; each core can hold one "
                                            "stage",
                                            core, owner.name));
  };
  for (const Stage& stage : plan.stages)
    for (std::size_t r = 0; r < stage.processors.size(); ++r)
      for (const int core : stage.processors[r].cores)
        take(core, {&stage, &stage.processors[r], name_of(stage, r)});
}

bool share_cores(const Plan& one, const Plan& other) {
  const std::set<int> cores = cores_of(one);
  return std::ranges::any_of(cores_of(other), [&](int core) { return cores.contains(core); });
}

void check_board(const Plan& plan, const board::Board& board) {
  std::vector<int> cores;
  std::string names;
  for (const board::Processor& processor : board.processors) {
    cores.insert(cores.end(), processor.cores.begin(), processor.cores.end());
    names += (names.empty() ? "" : ", ") + processor.name;
  }
  const auto check = [&](const board::Processor& processor, const std::string& stage) {
    const auto& all = board.processors;
    if (processor.cores.empty() && std::find(all.begin(), all.end(), processor) == all.end())
      throw InputError(stage, fmt::format("needs the {} '{}', which this machine does not have; "
                                          "it has {}; make a new plan here with 'millrace plan'",
                                          board::to_text(processor.kind), processor.name, names));
    for (int core : processor.cores)
      if (std::find(cores.begin(), cores.end(), core) == cores.end())
        throw InputError(stage,
                         fmt::format("needs processor '{}' (core {}), which this machine does not "
                                     "have; it has {}; make a new plan here with 'millrace plan'",
                                     processor.name, core, names));
  };
  for (const Stage& stage : plan.stages)
    for (std::size_t r = 0; r < stage.processors.size() && !is_simulated(stage); ++r)
      if (!is_copying(stage)) check(stage.processors[r], name_of(stage, r));
}

}  // namespace millrace::plan
