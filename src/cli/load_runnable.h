#pragma once
// A plan file, or a model that becomes a plan on one processor.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/model.h"

namespace millrace::cli {

struct RunnableOptions {
  ModelOptions model;   // model.model: a plan file or a model
  std::string network;  // --model: the model of a plan that is no longer where it was
  double time_scale = 1;
};

void bind_runnable(CLI::App& verb, RunnableOptions& options);
CLI::Option* bind_time_scale(CLI::App& verb, RunnableOptions& options);  // --time-scale

/// A model is put on the first processor as a whole.
std::unique_ptr<Loaded> load_runnable(const RunnableOptions& options);

/// All layers on one processor.
plan::Plan one_processor_plan(const network::Network& network, const board::Processor& processor,
                              const std::string& engine);

/// The plan's variants on one frame, so that like is compared with like; but where this processor
/// lacks one (with several cores some algorithms are not offered), the engine's choice in the same
/// precision.
std::vector<board::Variant> variants_on(const board::Processor& processor, const Loaded& loaded,
                                        const engine::Engine& engine);

}  // namespace millrace::cli
