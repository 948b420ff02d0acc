#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "plan/build.h"

namespace millrace::plan {

void check_cores(const Plan& plan) {
  std::map<int, std::string> owners;
  const auto take = [&](int core, const std::string& name) {
    const auto [owner, fresh] = owners.try_emplace(core, name);
    if (!fresh)
      throw InputError(name, fmt::format("core {} is used by {} too; each core can hold one stage",
                                         core, owner->second));
  };
  for (const Stage& stage : plan.stages)
    for (std::size_t r = 0; r < stage.processors.size(); ++r)
      for (const int core : stage.processors[r].cores) take(core, name_of(stage, r));
}

}  // namespace millrace::plan
