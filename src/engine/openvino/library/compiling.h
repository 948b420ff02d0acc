#pragma once
// How models are compiled.
#include <openvino/openvino.hpp>

#include <string>

#include "board/board.h"
#include "engine/options.h"

namespace millrace::engine::openvino {

struct Target {
  std::string device;  // OpenVINO's name
  board::Processor processor;
  board::Precision precision = board::Precision::f32;
};

/// OpenVINO's properties: on cores one stream, with a thread for each of the processor's.
ov::AnyMap properties_for(const Target& target, const EngineOptions& options);

/// Whether the cores have instructions for bfloat16 numbers.
bool has_bfloat16(const ov::Core& core);

}  // namespace millrace::engine::openvino
