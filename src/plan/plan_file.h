#pragma once
// Plans as JSON files (schemas/plan.schema.json) that a person can read, edit and compare: layers
// and tensors stand in them by name.
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "base/json.h"
#include "plan/evidence.h"

namespace millrace::plan {

struct PlanFile {
  Plan plan;
  Origin origin;
  Evidence evidence;
  bool operator==(const PlanFile&) const = default;
};

/// Atomic; see base/file.h. Precondition: check() passes. InputError if the evidence is of another
/// plan. `folder`: where the file will lie, from which it names its model; empty: where it is
/// written.
void write_plan(const std::filesystem::path& path, const PlanFile& file,
                const network::Network& network, const std::filesystem::path& folder = {});

/// A plan and its network. Borrowed.
struct PlanOf {
  const PlanFile& file;
  const network::Network& network;
};
/// Writes the plans of an application with crops into one file: for all readers but
/// read_crops_plan() it is the first one's.
void write_plans(const std::filesystem::path& path, const PlanOf& first, const PlanOf& crops);

/// What the plan was made from, so that its model can be read before the plan. InputError if the
/// file is not a plan.
Origin read_plan_origin(const std::filesystem::path& path);

/// The plan for this network, in today's format or the one before it (2), where each replica is a
/// stage; it has passed check(). InputError names file and field; also if the plan was made for
/// another network, by its hash.
PlanFile read_plan(const std::filesystem::path& path, const network::Network& network);

/// The plan for the network that looks at crops; none: the file has none. As read_plan().
std::optional<PlanFile> read_crops_plan(const std::filesystem::path& path,
                                        const network::Network& network);

/// The same inside other files: of today's format only. `folder` is where the file lies.
nlohmann::ordered_json to_json(const PlanFile& file, const network::Network& network,
                               const std::filesystem::path& folder);
Origin read_plan_origin(const JsonView& plan, const std::filesystem::path& folder);
PlanFile read_plan(const JsonView& plan, const network::Network& network,
                   const std::filesystem::path& folder);

/// InputError if a stage's processor has cores that the board lacks.
void check_board(const Plan& plan, const board::Board& board);

}  // namespace millrace::plan
