#include "plan/variants.h"

#include <algorithm>

namespace millrace::plan {

Plan with_variants(const Plan& plan, Variants variants) {
  Plan result = plan;
  result.variants = std::move(variants.variants);
  result.one_frame_variants = std::move(variants.one_frame);
  result.calibration = std::move(variants.calibration);
  return result;
}

Plan with_variants(const Plan& plan, std::vector<board::Variant> variants) {
  return with_variants(plan, {std::move(variants), plan.one_frame_variants, plan.calibration});
}

Plan simulated_elsewhere(const Plan& plan, const board::Board& here) {
  Plan result = plan;
  const auto is_here = [&](const board::Processor& processor) {
    const auto& all = here.processors;
    return std::find(all.begin(), all.end(), processor) != all.end();
  };
  for (Stage& stage : result.stages)
    if (!std::all_of(stage.processors.begin(), stage.processors.end(), is_here))
      stage.engine = simulated_engine;
  return result;
}

}  // namespace millrace::plan
