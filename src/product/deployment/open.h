#pragma once
// Systems and deployments with all that they name: applications, models, boards.
#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <utility>

#include "board/board.h"
#include "deployment/deployment_file.h"
#include "deployment/recorded.h"
#include "network/network.h"
#include "product/context.h"

namespace millrace::product {

/// As system::read_system, and each group that names an application has that one's model and
/// precisions.
system::System open_system(const std::filesystem::path& path, const Context& context = {});

/// InputError for what only 'admit' reads, and others would pass over.
void refuse_what_is_for_admission(const system::System& system);

/// Opens each model once. What it returns lives as long as it does.
class Networks {
 public:
  explicit Networks(Context context = {}) : context_(std::move(context)) {}

  const network::Network& of(const formats::ModelSource& source);
  const Context& context() const { return context_; }
  deployment::NetworkOf by_source() {
    return [this](const formats::ModelSource& source) -> const network::Network& {
      return of(source);
    };
  }

 private:
  Context context_;
  std::deque<std::pair<formats::ModelSource, network::Network>> opened_;
};

/// Applications opened as by open_system; every plan can run, see schedule::check_live.
deployment::Deployment open_deployment(const std::filesystem::path& path, Networks& networks);
/// The same without the plans' stages: nothing but the file need be there.
deployment::Deployment open_deployment_times(const std::filesystem::path& path);

/// By --scenario and --level: InputError if there is no such one.
system::ScenarioId scenario_named(const system::System& system, const std::string& name);
void check_level(const system::System& system, std::int64_t level);

/// Reads the releases of `file`, and says what is in it; none if its name is empty.
deployment::RecordedReleases recorded_releases(const std::string& file,
                                               const system::System& system,
                                               const Context& context);

/// The board that the system names, or this machine with what its engines reach.
board::Board board_of(const system::System& system, const Context& context);
/// The board of the deployment, which has all that it needs: InputError, which names the file.
/// Says so if it is another one than the deployment was made for.
board::Board board_of(const deployment::Deployment& deployment, const Context& context);

}  // namespace millrace::product
