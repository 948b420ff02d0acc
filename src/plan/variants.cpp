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

Plan with_engine(const Plan& plan, const std::function<bool(const Stage&)>& which,
                 const std::string& engine) {
  Plan result = plan;
  for (Stage& stage : result.stages)
    if (which(stage)) stage.engine = engine;
  return result;
}

bool is_on(const Stage& stage, const board::Board& board) {
  const auto& all = board.processors;
  return std::all_of(stage.processors.begin(), stage.processors.end(),
                     [&](const board::Processor& processor) {
                       return std::find(all.begin(), all.end(), processor) != all.end();
                     });
}

}  // namespace millrace::plan
