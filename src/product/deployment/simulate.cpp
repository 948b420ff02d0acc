#include "product/deployment/simulate.h"

#include "base/error.h"
#include "product/deployment/open.h"

namespace millrace::product {

simulate::SimulatedDrive simulate_drive(const DriveRequest& request) {
  simulate::SimulatedDrive result;
  result.file = request.deployment;
  result.script = request.script;
  result.deployment = open_deployment_times(request.deployment);
  const board::Board board = board_of(result.deployment, request.context);
  const system::System& system = result.deployment.system;
  simulate::DriveOptions& options = result.options;
  options.duration = time_from_seconds(request.duration_s);
  options.drawn = request.drawn;
  options.seed = request.seed;
  options.traced_frames = request.traced_frames;
  options.recorded = recorded_releases(request.releases, system, request.context);
  options.script =
      request.script.empty()
          ? deployment::random_script(system, {options.duration, request.transitions, request.seed})
          : deployment::read_script(request.script, system);
  deployment::refuse_additions(options.script,
                               "a simulated drive adds no deployment; 'millrace run' does");
  try {
    result.drive = simulate::drive(result.deployment, board, options);
  } catch (const InputError& error) {
    throw InputError(request.deployment, error.what());
  }
  return result;
}

}  // namespace millrace::product
