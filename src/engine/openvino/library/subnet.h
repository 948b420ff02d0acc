#pragma once
// A compiled model with its borders in the caller's memory.
#include <openvino/openvino.hpp>

#include <memory>
#include <string>

#include "engine/engine.h"
#include "engine/openvino/library/part.h"

namespace millrace::engine::openvino {

/// What a subnet is made of.
struct Compilation {
  ov::Core core;
  std::string place;  // in messages: the first layer and the processor
  std::string device;
  ov::AnyMap properties;
  std::shared_ptr<const Part> part;  // sharers: the subnet alone; outlives the model
  std::shared_ptr<ov::Model> model;  // sharers: OpenVINO
};

/// Throws what OpenVINO throws.
std::unique_ptr<Subnet> make_subnet(const SubnetRequest& request, Compilation compilation);

}  // namespace millrace::engine::openvino
