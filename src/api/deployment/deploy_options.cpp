#include "api/deployment/deploy_options.h"

#include "base/error.h"

namespace millrace::api {

std::int64_t samples_of(const DeployRequest& request) {
  constexpr std::int64_t usual_samples = 200;
  return request.samples.value_or(usual_samples);
}

void refuse_options_without_effect(const DeployRequest& request, const system::System& system) {
  const bool is_modelled = !system.board.empty();
  if (is_modelled && request.samples)
    throw InputError("--samples", "is for this machine; times of the board '" + system.board +
                                      "' are modelled, so leave it out");
  if (!is_modelled && request.deviation && samples_of(request) == 0)
    throw InputError("--deviation",
                     "is for modelled times and for the search before tasks are measured; with "
                     "--samples 0 worst times are the layers' own, so leave it out");
}

}  // namespace millrace::api
