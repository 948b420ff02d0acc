#pragma once
// What a user may set. docs/methods/rknn.md has the names.
#include <filesystem>
#include <span>
#include <string>

#include "millrace/engine.h"

namespace millrace_rknn {

/// A system on a chip with an NPU.
struct Platform {
  const char* name;   // as the toolkit takes it
  const char* model;  // for people, and for what was compiled
  int cores;          // of its NPU
};

struct NpuSettings {
  Platform platform{};
  std::string python;             // a program: a path, or a name that is looked for in PATH
  std::filesystem::path runtime;  // librknnrt.so; empty: looked for in the usual places
  std::filesystem::path keep;     // what was converted is kept here; empty: nowhere
};

/// The user's options before the environment, and that before what is usual. WrongSetting with the
/// known words.
NpuSettings read_settings(const MillraceOpening& opening);

/// The platform that this text of the device tree, "maker,board\0rockchip,rk3588\0", names; null:
/// none.
const Platform* platform_in(std::string_view compatible);

}  // namespace millrace_rknn
