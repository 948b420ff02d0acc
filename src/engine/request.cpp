#include "engine/request.h"

#include "base/error.h"

namespace millrace::engine {

void check_space(const Engine& engine, const SubnetRequest& request) {
  if (is_in_a_space(request))
    throw NoSuchSpace("the engine " + engine.name() + " works in the host's memory only");
}

void check_support(const Engine& engine, const SubnetRequest& request) {
  check_space(engine, request);
  check_layers(engine, request);
}

void check_layers(const Engine& engine, const SubnetRequest& request) {
  for (const LayerId layer : request.layers) {
    const Verdict verdict = engine.supports(*request.network, layer, request.processor);
    if (!verdict)
      throw InputError((*request.network)[layer].name,
                       "the engine " + engine.name() + " cannot run it: " + verdict.reason());
  }
}

void check_plain(const Engine& engine, const SubnetRequest& request) {
  for (const Port& port : request.inputs)
    if (port.layout.format != "plain" ||
        port.layout.size != (*request.network)[port.tensor].size())
      throw InputError((*request.network)[port.tensor].name,
                       "it comes in the layout " + port.layout.format + ", but the engine " +
                           engine.name() + " reads only plain; ask its producer for plain");
}

std::vector<std::string> spaces_of(const SubnetRequest& request) {
  std::vector<std::string> spaces = request.spaces;
  for (const Port& port : request.inputs) spaces.push_back(port.layout.space);
  return spaces;
}

std::vector<Port> plain_outputs(const SubnetRequest& request) {
  std::vector<Port> ports;
  for (std::size_t i = 0; i < request.outputs.size(); ++i) {
    const TensorId output = request.outputs[i];
    ports.push_back({output, plain_layout((*request.network)[output])});
    if (!request.spaces.empty()) ports.back().layout.space = request.spaces[i];
  }
  return ports;
}

}  // namespace millrace::engine
