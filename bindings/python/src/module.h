#pragma once
// The parts of the module; each adds its classes and functions.
#include <nanobind/nanobind.h>

#include <chrono>

namespace millrace::python {

void add_models(nanobind::module_& module);
void add_sessions(nanobind::module_& module);
void add_applications(nanobind::module_& module);
void add_deployments(nanobind::module_& module);
void add_dataflow(nanobind::module_& module);
void add_realtime(nanobind::module_& module);

/// Seconds.
double seconds_of(std::chrono::nanoseconds duration);

}  // namespace millrace::python
