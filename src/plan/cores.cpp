#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "plan/build.h"

namespace millrace::plan {

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

}  // namespace millrace::plan
