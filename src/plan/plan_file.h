#pragma once
// Plans as JSON files (schemas/plan.schema.json) that a person can read, edit and compare: layers
// and tensors stand in them by name.
#include <filesystem>

#include "plan/plan.h"

namespace millrace::plan {

/// Atomic; see base/file.h. Precondition: check() passes.
void write_plan(const std::filesystem::path& path, const Plan& plan,
                const network::Network& network);

/// What the plan was made from, so that its model can be read before the plan. InputError if the
/// file is not a plan.
Origin read_plan_origin(const std::filesystem::path& path);

/// The plan for this network; it has passed check(). InputError names file and field; also if the
/// plan was made for another network, by its hash.
Plan read_plan(const std::filesystem::path& path, const network::Network& network);

/// InputError if a stage's processor has cores that the board lacks.
void check_board(const Plan& plan, const board::Board& board);

}  // namespace millrace::plan
