#pragma once
// run and bench of applications.
#include <string>

#include "product/application/load.h"
#include "product/application/run.h"
#include "product/loaded.h"

namespace millrace::cli {

struct ApplicationRunOptions {
  std::string output;  // a file of lines in place of the application's output; empty: that
  bool json = false;
  product::TraceOptions trace = {};
  application::Observer* observer = nullptr;  // borrowed; null: nobody
};

/// Notes of a run; the exit code. Throws what a source or a processing complained of.
int report(const product::ApplicationTotals& run);

/// Runs it once. The exit code.
int run_application(const product::RunnableOptions& runnable,
                    const product::ApplicationOptions& options,
                    const ApplicationRunOptions& run_options);

struct ApplicationBenchOptions {
  int rounds = 5;
  bool json = false;
  std::string svg = {};  // a file for the waterfall; empty: none
};

/// Measures it with one technique after the other, from everything in turn on one core to the plan,
/// in turns, and compares the findings. The exit code.
int bench_application(const product::RunnableOptions& runnable,
                      const product::ApplicationOptions& options,
                      const ApplicationBenchOptions& bench_options);

}  // namespace millrace::cli
