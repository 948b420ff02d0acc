#include "schedule/read_plan.h"

#include "base/error.h"
#include "plan/plan_file.h"
#include "schedule/graph.h"

namespace millrace::schedule {

plan::Plan read_plan(const std::filesystem::path& path, const network::Network& network) {
  plan::Plan plan = plan::read_plan(path, network);
  try {
    check_live(plan, network);
  } catch (const InputError& error) {
    throw InputError(path.string(), error.what());
  }
  return plan;
}

}  // namespace millrace::schedule
