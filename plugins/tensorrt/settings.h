#pragma once
// What a user may set. docs/methods/tensorrt.md has the names.
#include <cstddef>
#include <filesystem>

#include "millrace/engine.h"

namespace millrace_tensorrt {

struct Settings {
  std::filesystem::path library;             // libnvinfer.so; empty: the system's loader finds it
  std::filesystem::path parser;              // libnvonnxparser.so; the same
  int gpu = 0;                               // the driver's number of it
  int level = -1;                            // of the builder's effort, 0 to 5; -1: its own
  std::size_t workspace = std::size_t{1} << 30;  // bytes that the builder may use for a layer
};

/// WrongSetting with the known words.
Settings read_settings(const MillraceOpening& opening);

}  // namespace millrace_tensorrt
