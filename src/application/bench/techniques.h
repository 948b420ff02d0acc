#pragma once
// How an application's rate comes about: with one technique after the other.
#include <string>
#include <vector>

#include "application/loaded/loaded.h"

namespace millrace::application {

/// The techniques so far.
struct ApplicationStep {
  std::string name;  // what this one adds
  plan::Plan plan;   // without stages: everything one after the other on one core
  int before_threads = 1, after_threads = 1;
};

/// Everything one after the other; with processing in threads of its own; with as many as the
/// application says; with the network's pipeline; with its batches; with its replicas. What the
/// plan does not use is left out; the last step is the plan itself.
std::vector<ApplicationStep> application_steps(const LoadedApplication& loaded);

}  // namespace millrace::application
