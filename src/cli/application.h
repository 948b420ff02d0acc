#pragma once
// Applications (.yaml) for the verbs that take models: docs/applications.md.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "application/plugin.h"
#include "application/processing.h"
#include "application/run.h"
#include "cli/load_runnable.h"
#include "cli/model.h"
#include "cli/trace.h"

namespace millrace::cli {

struct ApplicationOptions {
  std::string plan;                  // made with `millrace plan APPLICATION`; empty: one processor
  std::vector<std::string> plugins;  // beside those of the file
  std::int64_t frames = 0;           // at most; 0: what the file says
};

void bind_application(CLI::App& verb, ApplicationOptions& options);  // --plan, --plugin, --frames
/// InputError if any of them is given, as `model` is no application.
void refuse_application_options(const ApplicationOptions& options, const std::string& model);

/// If options.model is an application, its network and precisions take its place, where the command
/// line does not say otherwise.
void use_network_of_application(ModelOptions& options, VariantOptions& variants);

/// An application and all that it needs to run. Stays where it is: the processings borrow.
struct LoadedApplication {
  application::Application application;
  application::Plugins plugins;
  std::unique_ptr<Loaded> loaded;
  std::unique_ptr<application::Processing> before, after;  // of plug-ins too, so gone before them

  application::Parts parts(application::Source& source) const {
    return {&source, before.get(), after.get()};
  }
};

std::unique_ptr<LoadedApplication> load_application(const RunnableOptions& runnable,
                                                    const ApplicationOptions& options);

/// What frames spent their time with, in one line.
std::string steps_text(const application::Totals& totals);

/// Runs it once; `json` in place of the file's output if it is not empty. The exit code.
int run_application(const RunnableOptions& runnable, const ApplicationOptions& options,
                    const std::string& json, const TraceOptions& trace);

struct ApplicationBenchOptions {
  int rounds = 5;
  bool json = false;
  std::string svg = {};  // a file for the waterfall; empty: none
};

/// Measures it with one technique after the other, from everything in turn on one core to the plan,
/// in turns, and compares the findings. The exit code.
int bench_application(const RunnableOptions& runnable, const ApplicationOptions& options,
                      const ApplicationBenchOptions& bench_options);

}  // namespace millrace::cli
