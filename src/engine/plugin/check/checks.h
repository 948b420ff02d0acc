#pragma once
// What is checked of a plug-in, each check in a process of its own.
#include <string>
#include <vector>

#include "engine/plugin/check/subject.h"

namespace millrace::engine::plugin::check {

struct DeviceReport {
  std::string name, model;
  std::size_t right = 0, run = 0;            // cases
  std::vector<std::string> refused;          // "sigmoid: operator: it is not known"
  std::vector<std::string> times;            // "conv_3x3: load 1.2 ms, run 0.034 ms"
  std::vector<std::string> faults;           // "wrong result: ..."
};

struct Report {
  std::vector<std::string> faults;  // before any device could be asked
  std::vector<DeviceReport> devices;
  bool is_good() const;
};

/// `limit`: seconds for each call. EngineError if no process can be started.
Report check_plugin(const Tested& tested, double limit);

}  // namespace millrace::engine::plugin::check
