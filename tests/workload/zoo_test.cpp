// Networks of the zoo in tiles: the outputs are those of the plain loops, whatever the scratchpad.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "engine/reference/reference.h"
#include "engine/tiled/tiled.h"
#include "formats/read.h"
#include "formats/zoo.h"
#include "support/network_builder.h"

namespace millrace::workload {
namespace {

using network::Array;
using network::Network;

std::vector<network::Buffer> run(engine::Engine& engine, const Network& network,
                                 const std::vector<Array>& inputs) {
  const auto subnet =
      engine.prepare(engine::whole_network(network, {.name = "core0", .cores = {0}}));
  std::vector<const std::byte*> in;
  std::vector<network::Buffer> results;
  std::vector<std::byte*> out;
  for (const engine::Port& port : subnet->inputs())
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (network.inputs[i] == port.tensor) in.push_back(inputs[i].memory->data());
  for (const engine::Port& port : subnet->outputs()) results.emplace_back(port.layout.size);
  for (network::Buffer& result : results) out.push_back(result.data());
  subnet->run(in, out);
  return results;
}

double difference(const network::Buffer& a, const network::Buffer& b) {
  const auto* x = reinterpret_cast<const float*>(a.data());
  const auto* y = reinterpret_cast<const float*>(b.data());
  double most = 0, largest = 1e-30;
  for (std::int64_t i = 0; i < a.size().count / 4; ++i) {
    const double apart = std::fabs(static_cast<double>(x[i]) - y[i]);
    if (std::isnan(apart)) return apart;
    most = std::max(most, apart);
    largest = std::max(largest, std::fabs(static_cast<double>(y[i])));
  }
  return most / largest;
}

class Zoo : public testing::TestWithParam<std::string> {};

/// The others take a minute each.
bool is_small(const std::string& name) {
  constexpr std::int64_t most_macs = 3'000'000'000;
  for (const formats::ZooEntry& entry : formats::zoo_entries())
    if (entry.name == name) return entry.macs <= most_macs;
  return true;
}

TEST_P(Zoo, is_right_in_tiles_of_three_scratchpads) {
  if (!is_small(GetParam()) && std::getenv("MILLRACE_ALL_TILES") == nullptr)
    GTEST_SKIP() << "takes long; MILLRACE_ALL_TILES=1 runs it";
  const std::string model = formats::zoo_model(GetParam());
  const Network network = formats::read_onnx(model, GetParam(), {});
  Random random(2);
  const std::vector<Array> inputs = test::random_inputs(random, network);
  const auto reference = engine::reference::make();
  const auto expected = run(*reference, network, inputs);
  for (const char* kib : {"32", "256", "2048"}) {
    engine::EngineOptions options;
    options.settings["tiled"] = {{"scratchpad_kib", kib}, {"check", "yes"}};
    const auto tiled = engine::tiled::make(options);
    const auto found = run(*tiled, network, inputs);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_LE(difference(found[i], expected[i]), 1e-4) << kib << " KiB, output " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(all, Zoo, testing::ValuesIn(formats::zoo_names()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

}  // namespace
}  // namespace millrace::workload
