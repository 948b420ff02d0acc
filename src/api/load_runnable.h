#pragma once
// A plan file, or a model that becomes a plan on one processor.
#include <memory>
#include <string>

#include "api/model.h"
#include "runtime/session.h"

namespace millrace::api {

struct RunnableOptions {
  ModelOptions model;   // model.model: a plan file or a model
  std::string network;  // --model: the model of a plan that is no longer where it was
  double time_scale = 1;
};

/// A model is put on one processor as a whole: the first that was asked for, else the first that no
/// other process uses, which is the first of the board then.
std::unique_ptr<Loaded> load_runnable(const RunnableOptions& options);

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

}  // namespace millrace::api
