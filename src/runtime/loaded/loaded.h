#pragma once
// A plan and all that it needs to run.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/operation/context.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "plan/plan_file.h"
#include "runtime/session.h"
#include "runtime/simulated_board.h"

namespace millrace::runtime {

/// How the stages of a plan run whose processors are not here: see simulated_stages.h.
struct SimulatedBoard {
  std::string computing;                             // the engine that computes their results
  engine::simulated::PacedEngine* engine = nullptr;  // one of Loaded::engines; null: none is
  double time_scale = 1;
  std::set<board::Precision> replaced;  // that are computed in f32 instead
  RunTimes times;              // stretched; the engine looks here
};

/// Sessions borrow its network, so it stays where it is.
struct Loaded {
  network::Network network;
  board::Board board;
  plan::Plan plan;
  plan::Origin origin;
  plan::Evidence evidence;
  std::map<std::string, std::unique_ptr<engine::Engine>> engines;
  SimulatedBoard simulated;
  Context context;

  std::map<std::string, engine::Engine*> engine_pointers() const;
};

void take(Loaded& loaded, plan::PlanFile file);

/// The engine of the stages of a plan or deployment in the file. EngineError, which names both, if
/// one of the engines cannot start.
std::unique_ptr<engine::Engine> make_engine_of(const std::string& file, const std::string& engines,
                                               const engine::EngineOptions& options);

/// The same of all stages of a plan for the same machine, unless they are there.
void add_engines(Loaded& loaded, const plan::Plan& plan, const std::string& file,
                 const engine::EngineOptions& options);


/// What is wrong with the plan is said of the file, or name, that the user gave.
Session deploy(const Loaded& loaded, const plan::Plan& plan, const std::string& file,
                        const SessionOptions& options);

/// All layers on one processor.
plan::Plan one_processor_plan(const network::Network& network, const board::Processor& processor,
                              const std::string& engine);

/// The plan's variants on one frame, so that like is compared with like; but where this processor
/// lacks one (with several cores some algorithms are not offered), the engine's choice in the same
/// precision.
std::vector<board::Variant> variants_on(const board::Processor& processor, const Loaded& loaded,
                                        const engine::Engine& engine);
/// The loaded network on one processor, in these variants, by one of the loaded engines.
plan::Plan one_processor_plan(const Loaded& loaded, const board::Processor& processor,
                              const std::string& engine);

}  // namespace millrace::runtime
