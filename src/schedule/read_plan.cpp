#include "schedule/read_plan.h"

#include "base/error.h"
#include "schedule/graph.h"

namespace millrace::schedule {
namespace {

void check_live_of(const std::filesystem::path& path, const plan::PlanFile& file,
                   const network::Network& network) {
  try {
    check_live(file.plan, network);
  } catch (const InputError& error) {
    throw InputError(path.string(), error.what());
  }
}

}  // namespace

plan::PlanFile read_plan(const std::filesystem::path& path, const network::Network& network) {
  plan::PlanFile file = plan::read_plan(path, network);
  check_live_of(path, file, network);
  return file;
}

std::optional<plan::PlanFile> read_crops_plan(const std::filesystem::path& path,
                                              const network::Network& network) {
  std::optional<plan::PlanFile> file = plan::read_crops_plan(path, network);
  if (file) check_live_of(path, *file, network);
  return file;
}

std::vector<plan::Takeover> read_takeovers(const std::filesystem::path& path,
                                           const network::Network& network) {
  if (path.extension() != ".json" || !std::filesystem::exists(path)) return {};
  std::vector<plan::Takeover> takeovers = plan::read_takeovers(path, network);
  for (const plan::Takeover& each : takeovers) check_live_of(path, each.file, network);
  return takeovers;
}

}  // namespace millrace::schedule
