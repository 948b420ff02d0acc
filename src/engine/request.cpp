#include "engine/request.h"

#include "base/error.h"

namespace millrace::engine {

void check_support(const Engine& engine, const SubnetRequest& request) {
  for (const LayerId layer : request.layers) {
    const Verdict verdict = engine.supports(*request.network, layer, request.processor);
    if (!verdict)
      throw InputError((*request.network)[layer].name,
                       "the engine " + engine.name() + " cannot run it: " + verdict.reason());
  }
}

void check_plain(const Engine& engine, const SubnetRequest& request) {
  for (const Port& port : request.inputs)
    if (port.layout != plain_layout((*request.network)[port.tensor]))
      throw InputError((*request.network)[port.tensor].name,
                       "it comes in the layout " + port.layout.format + ", but the engine " +
                           engine.name() + " reads only plain; ask its producer for plain");
}

std::vector<Port> plain_outputs(const SubnetRequest& request) {
  std::vector<Port> ports;
  for (const TensorId output : request.outputs)
    ports.push_back({output, plain_layout((*request.network)[output])});
  return ports;
}

}  // namespace millrace::engine
