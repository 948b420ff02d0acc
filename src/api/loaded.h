#pragma once
// A plan and all that it needs to run: from a plan file, or of a model on one processor.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/setup.h"
#include "engine/engine.h"
#include "plan/plan_file.h"
#include "runtime/session.h"
#include "runtime/simulated_board.h"

namespace millrace::api {

/// How the stages of a plan run whose processors are not here: see simulated_board.h.
struct SimulatedBoard {
  std::string computing;                             // the engine that computes their results
  engine::simulated::PacedEngine* engine = nullptr;  // one of Loaded::engines; null: none is
  double time_scale = 1;
  std::set<board::Precision> replaced;  // that are computed in f32 instead
  runtime::RunTimes times;              // stretched; the engine looks here
};

/// A plan and all that it needs to run.
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

/// Whether the file is a plan (JSON) rather than a model.
bool is_plan_file(const std::string& path);
/// Reads the plan and the model it was made from (or `model_override`, if given), and checks that
/// they belong together: without board and engines, for plans of any machine.
std::unique_ptr<Loaded> read_plan_and_network(const std::string& path,
                                              const std::string& model_override,
                                              const Context& context = {});
/// The same to run it here: this machine has the processors, or they are simulated, and the engines
/// are there. The result stays where it is: sessions borrow its network.
struct RunOptions {
  Context context = {};
  double time_scale = 1;  // of simulated stages; 0: they take no longer than computing
};
std::unique_ptr<Loaded> load_plan(const std::string& path, const std::string& model_override,
                                  const RunOptions& options);
/// The second half of it: `loaded` has the plan of the file `path` and its network.
void make_ready(Loaded& loaded, const std::string& path, const RunOptions& options);

struct RunnableOptions {
  Setup model;          // its source: a plan file or a model
  std::string network;  // --model: the model of a plan that is no longer where it was
  double time_scale = 1;
};

/// A model is put on one processor as a whole: the first that was asked for, else the first that no
/// other process uses, which is the first of the board then.
std::unique_ptr<Loaded> load_runnable(const RunnableOptions& options);

/// Of a model on one processor: lets each layer run in its fastest variant, as a plan does. That is
/// measured briefly, and kept.
void choose_variants(Loaded& loaded);

/// runtime::deploy. What is wrong with the plan is said of the file, or name, that the user gave.
runtime::Session deploy(const Loaded& loaded, const plan::Plan& plan, const std::string& file,
                        const runtime::SessionOptions& options);

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

}  // namespace millrace::api
