#include "agreement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>

#include "base/random.h"
#include "engine/registry.h"
#include "network/evaluate/evaluate.h"
#include "subnet_runner.h"
#include "support/network_builder.h"

namespace millrace::test {
namespace {

using network::Array;

/// Results that are all but zero may differ by rounding of what was added up to them.
constexpr double smallest_scale = 0.1;
constexpr double infinite = std::numeric_limits<double>::infinity();

double difference_of(const Array& found, const Array& expected) {
  if (found.type != expected.type || found.shape != expected.shape) return infinite;
  if (expected.type != network::DataType::float32)
    return std::ranges::equal(found.bytes(), expected.bytes()) ? 0 : infinite;
  const auto a = found.values<float>(), b = expected.values<float>();
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (a[i] == b[i] && !std::isfinite(b[i])) continue;
    const double d = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!std::isfinite(d)) return infinite;
    difference = std::max(difference, d);
    largest = std::max(largest, std::fabs(static_cast<double>(b[i])));
  }
  return difference / std::max(largest, smallest_scale);
}

const board::Processor& first_core() {
  static const board::Board board = board::this_machine();
  return board.processors.front();
}

/// Where an engine runs.
board::Processor processor_for(const std::string& name, const engine::Engine& engine) {
  if (engine.traits(first_core())) return first_core();
  return board::processors_of(engine::reached_devices(name, {}).at(0).device).front();
}

/// Engines keep packed weights as long as they live; each network gets an engine of its own. One
/// that compiles kernels serves all.
std::shared_ptr<engine::Engine> engine_called(const std::string& name) {
  if (name != "cuda") return engine::make_engine(name);
  static const std::shared_ptr<engine::Engine> shared = engine::make_engine(name);
  return shared;
}

std::string text_of_tensors(const network::Network& network,
                            const std::vector<TensorId>& tensors) {
  std::string text;
  for (const TensorId id : tensors) {
    const std::string& name = network[id].name;
    text += fmt::format(" {}:{}", network[id].constant ? "constant" : name,
                        fmt::join(network[id].shape, "x"));
  }
  return text;
}

}  // namespace

double largest_difference(const std::vector<Array>& found, const std::vector<Array>& expected) {
  if (found.size() != expected.size()) return infinite;
  double error = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    error = std::max(error, difference_of(found[i], expected[i]));
  return error;
}

std::string engine_under_test() {
  const char* const named = std::getenv("MILLRACE_AGREEMENT_ENGINE");
  return named == nullptr ? "onednn" : named;
}

Verdict can_run_in_one_piece(const network::Network& network, const AgreementOptions& options) {
  const auto engine = engine_called(options.engine);
  const board::Processor processor = processor_for(options.engine, *engine);
  return engine->supports(network, engine::whole_network(network, processor).layers, processor);
}

double error_in_one_piece(const network::Network& network, const AgreementOptions& options) {
  const auto engine = engine_called(options.engine);
  Random random(options.seed);
  const std::vector<Array> inputs = random_inputs(random, network);
  engine::SubnetRequest request =
      engine::whole_network(network, processor_for(options.engine, *engine));
  request.variants = options.variants;
  request.calibration = options.calibration;
  const std::vector<Array> found = SubnetRunner(*engine, request).run(inputs);
  return largest_difference(found, network::evaluate(network, inputs));
}

std::string text_of(const network::Network& network) {
  std::string text;
  for (const network::Layer& layer : network.layers)
    text += fmt::format("{}{} ->{}\n", name_of(layer.op), text_of_tensors(network, layer.inputs),
                        text_of_tensors(network, layer.outputs));
  return text + "outputs" + text_of_tensors(network, network.outputs);
}

}  // namespace millrace::test
