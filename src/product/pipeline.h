#pragma once
// Plans of networks that are in memory, run frame by frame.
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "engine/engine.h"
#include "engine/options.h"
#include "network/network.h"
#include "plan/plan_file.h"
#include "runtime/session.h"
#include "runtime/simulated_board.h"

namespace millrace::product {

/// A running pipeline with all that it needs: its network and its engines. Another one may be moved
/// into its place while it runs; frames on their way are dropped then.
class Pipeline {
 public:
  /// See runtime::Session.
  void submit(std::span<const network::Array> inputs) { session().submit(inputs); }
  std::optional<runtime::Result> next() { return session().next(); }
  void finish() { session().finish(); }
  runtime::Session& session() { return *parts_->session; }

 private:
  friend Pipeline deploy(const plan::Assessed& assessed, network::Network network,
                         const engine::EngineOptions& options);
  /// The session borrows the others, so it ends first.
  struct Parts {
    network::Network network;
    std::unique_ptr<runtime::RunTimes> times;  // of simulated stages
    std::map<std::string, std::unique_ptr<engine::Engine>> engines;
    std::optional<runtime::Session> session;
  };
  explicit Pipeline(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

  std::unique_ptr<Parts> parts_;
};

/// Starts the plan's stages on this machine. The pipeline keeps the network; a copy shares its
/// weights. Stages that plan::is_simulated are computed here and take the times that the evidence
/// predicts; without evidence they are refused. With a store in the options, weights that an
/// earlier run packed are found there. InputError if the evidence is of another plan.
Pipeline deploy(const plan::Plan& plan, network::Network network,
                const engine::EngineOptions& options = {});
Pipeline deploy(const plan::Assessed& assessed, network::Network network,
                const engine::EngineOptions& options = {});
Pipeline deploy(const plan::PlanFile& file, network::Network network,
                const engine::EngineOptions& options = {});

}  // namespace millrace::product
