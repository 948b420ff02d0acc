// Programs that somebody edited without care: what the checks let through touches no byte outside
// of its buffers. Run with AddressSanitizer, reading too far is seen as well.
#include <gtest/gtest.h>

#include "base/error.h"
#include "sample_program.h"
#include "support/network_builder.h"
#include "workload/check/check.h"
#include "workload/check/effort.h"
#include "workload/program_file.h"

namespace millrace::workload {
namespace {

using network::Network;
using test::NetworkBuilder;
using Json = nlohmann::ordered_json;

/// Every kind of kernel, and a layer that has none.
Network network_of_all_kernels() {
  NetworkBuilder builder;
  TensorId x = builder.input({1, 6, 11, 13});
  x = builder.unary(network::UnaryKind::relu, builder.conv(x, 9, test::window(3, {.pad = 1})));
  x = builder.conv(x, 9, test::window(3, {.stride = 2}), 9);
  x = builder.binary(network::BinaryKind::mul, x, builder.constant({1, 9, 1, 1}));
  network::Pool pool;
  pool.window = test::window(2);
  x = builder.layer(pool, {x}, test::slide(pool.window, builder.shape(x), 9));
  pool.kind = network::PoolKind::average;
  x = builder.layer(pool, {x}, test::slide(pool.window, builder.shape(x), 9));
  builder.output(builder.unary(network::UnaryKind::sigmoid, x));
  return builder.build();
}

/// All numbers and texts of a document.
void add_leaves(Json& json, std::vector<Json*>& leaves) {
  if (json.is_structured())
    for (Json& part : json) add_leaves(part, leaves);
  else
    leaves.push_back(&json);
}

void change_number(Json& number, Random& random) {
  const auto value = number.get<std::int64_t>();
  const std::array<std::int64_t, 8> others{
      0,         1,         value + 1, value - 1,
      2 * value, value / 2, value + 4, static_cast<std::int64_t>(random.below(64))};
  number = others[random.below(others.size())];
}

/// One leaf, or the leaf takes the value of another one of its kind.
void edit(Json& document, Random& random) {
  std::vector<Json*> leaves;
  for (Json& workload : document.at("workloads")) add_leaves(workload, leaves);
  Json& leaf = *leaves[random.below(leaves.size())];
  const Json& other = *leaves[random.below(leaves.size())];
  if (leaf.is_number_integer() && random.below(4) != 0)
    change_number(leaf, random);
  else if (leaf.type() == other.type())
    leaf = Json(other);
}

/// What is read and found right by all checks, and short enough.
std::optional<Program> checked(const Json& document, const Network& network) {
  try {
    const nlohmann::json copy = nlohmann::json::parse(document.dump());
    Program program = program_of(JsonView(copy, "edited"));
    if (!violations(program, network).empty()) return std::nullopt;
    for (const Workload& workload : program.workloads) {
      const Effort effort = effort_of(workload);
      if (effort.touched + effort.marked > 1e7) return std::nullopt;
    }
    if (!violations(program).empty()) return std::nullopt;
    return program;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

void expect_safe(bool fused, std::uint64_t seed) {
  const Network network = network_of_all_kernels();
  std::vector<LayerId> layers;
  for (std::size_t i = 0; i < network.layers.size(); ++i) layers.emplace_back(i);
  TileTarget target;
  target.scratchpad = Bytes{6 * 1024};
  target.may_overlap = !fused;
  const Json original =
      to_json(compile(network, {.layers = layers, .fuse = fused}, target).program);
  Random random(seed);
  const auto inputs = test::random_inputs(random, network);
  int right = 0;
  for (int round = 0; round < 1500; ++round) {
    Json document = original;
    for (std::uint64_t edits = 1 + random.below(2); edits > 0; --edits) edit(document, random);
    SCOPED_TRACE(round);
    const auto program = checked(document, network);
    if (!program) continue;
    ++right;
    run_program(*program, network, inputs);
  }
  EXPECT_GE(right, 30);  // so that there is something to see
  EXPECT_LE(right, 1200);
}

TEST(EditedPrograms, that_pass_the_checks_stay_in_their_buffers) { expect_safe(false, 1); }
TEST(EditedPrograms, of_fused_layers_that_pass_the_checks_do_too) { expect_safe(true, 2); }

}  // namespace
}  // namespace millrace::workload
