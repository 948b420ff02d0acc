#include "schedule/read_plan.h"

#include "base/error.h"
#include "schedule/graph.h"

namespace millrace::schedule {

plan::PlanFile read_plan(const std::filesystem::path& path, const network::Network& network) {
  plan::PlanFile file = plan::read_plan(path, network);
  try {
    check_live(file.plan, network);
  } catch (const InputError& error) {
    throw InputError(path.string(), error.what());
  }
  return file;
}

}  // namespace millrace::schedule
