#pragma once
// The same plan with other variants, or on other engines.
#include <optional>
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

/// Stages that have a processor which is not on this board are simulated.
Plan simulated_elsewhere(const Plan& plan, const board::Board& here);

}  // namespace millrace::plan
