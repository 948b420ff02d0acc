#pragma once
// The engine on the emulated driver, whatever is installed on this machine.
#include <cstdlib>
#include <string>

#include "engine/options.h"

namespace millrace::engine::cuda {

inline EngineOptions emulated_gpu() {
  EngineOptions options;
  options.libraries["cuda"] = MILLRACE_EMULATED_CUDA;
  return options;
}

/// What the emulated driver reads: set as long as this is alive.
class DriverVariable {
 public:
  DriverVariable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~DriverVariable() { ::unsetenv(name_); }
  DriverVariable(const DriverVariable&) = delete;
  DriverVariable& operator=(const DriverVariable&) = delete;

 private:
  const char* name_;
};

}  // namespace millrace::engine::cuda
