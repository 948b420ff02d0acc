#pragma once
// Checks of what a loaded case computes, in the child process.
#include "engine/plugin/check/subject.h"

namespace millrace::engine::plugin::check {

/// What every check of a device is given.
struct Bench {
  const Instance& instance;
  const PluginDevice& device;
  Teller& teller;
};

/// The results are those of the plain loops when run() returns, in the shapes of the network and
/// within the buffers; the same inputs give the same bytes again, also after others.
void check_results(const Bench& bench, const Case& test);

/// Several threads, each with a program of its own, get the results of one.
void check_threads(const Bench& bench, const Case& test);

/// Loading and unloading, runs and questions leave no memory, thread or file behind.
void check_leaks(const Bench& bench, const Case& test);

/// A loaded program holds what it says.
void check_memory(const Bench& bench, const Case& test);

/// Says how long load and run take; times of layers fit into that of the run.
void check_times(const Bench& bench, const Case& test);

}  // namespace millrace::engine::plugin::check
