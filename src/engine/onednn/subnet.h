#pragma once
// A program with its memory: what runs.
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/onednn/program.h"

namespace millrace::engine::onednn {

/// What a prepared subnet is made from.
struct Prepared {
  const network::Network* network = nullptr;  // borrowed
  std::vector<int> cores;
  std::vector<Port> inputs, outputs;
  Program program;
};

/// To be called, and the subnet to be run, with the cores' number of threads; run() sees to it.
std::unique_ptr<Subnet> make_subnet(const dnnl::engine& engine, Prepared prepared);

}  // namespace millrace::engine::onednn
