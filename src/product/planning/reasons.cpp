#include "product/planning/reasons.h"

#include "explore/why.h"

namespace millrace::product {

std::vector<explore::LayerReasons> reasons_of(const PlanRequest& request, const Planned& planned,
                                              const explore::Choice& choice) {
  std::vector<explore::LayerReasons> result;
  const explore::Problem problem =
      explore::make_problem(planned.network, planned.board, planned.profile);
  plan::BuildOptions build{.engine = planned.engine};
  if (request.max_memory) build.most_memory = *request.max_memory;
  const explore::SearchContext search_context{planned.network, planned.board, problem, build};
  for (const std::string& name : request.why)
    result.push_back(explore::reasons_in(search_context, choice.winner(),
                                         layer_named(planned.network, name, "⟨why⟩")));
  return result;
}

}  // namespace millrace::product
