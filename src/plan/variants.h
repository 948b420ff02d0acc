#pragma once
// The same plan with other variants, or on other engines.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "board/board.h"
#include "plan/plan.h"

namespace millrace::plan {

/// In which variants layers run, and what int8 needs; as in Plan.
struct Variants {
  std::vector<board::Variant> variants = {}, one_frame = {};
  std::optional<network::Calibration> calibration = {};
};
Plan with_variants(const Plan& plan, Variants variants);
/// Other variants of layers whose calibration, if they need it, the plan has.
Plan with_variants(const Plan& plan, std::vector<board::Variant> variants);

/// Another engine runs the stages of which `which` is true.
Plan with_engine(const Plan& plan, const std::function<bool(const Stage&)>& which,
                 const std::string& engine);
/// Keeps those of several engines that may run together by whose names layers run; so the plan runs
/// where the others are missing. Stages that had the same engines still have the same. Those of the
/// plan `beside` stay too: they are open where both run.
Plan with_used_engines(const Plan& plan, const Plan& beside = {});
/// Whether all processors of the stage are on this board.
bool is_on(const Stage& stage, const board::Board& board);
/// The plan for `board`, with every stage simulated that has a processor which is not one of this
/// machine.
Plan simulated_where_not_here(const Plan& plan, const board::Board& board);

}  // namespace millrace::plan
