// Layers together: what engines fuse, reorder and share memory for.
#include "cases.h"

namespace millrace::test {

using namespace millrace::network;

namespace {

TensorId relu(NetworkBuilder& b, TensorId x) { return b.unary(UnaryKind::relu, x); }
TensorId conv3(NetworkBuilder& b, TensorId x, std::int64_t filters) {
  return b.conv(x, filters, window(3, {.pad = 1}));
}

void conv_relu(NetworkBuilder& b) { b.output(relu(b, conv3(b, b.input({1, 8, 7, 7}), 16))); }

void conv_clip(NetworkBuilder& b) {
  b.output(b.unary(UnaryKind::clip, conv3(b, b.input({1, 8, 7, 7}), 16), 0, 0.5));
}

void conv_add_relu(NetworkBuilder& b) {
  const TensorId x = b.input({1, 16, 7, 7});
  const TensorId y = conv3(b, relu(b, conv3(b, x, 16)), 16);
  b.output(relu(b, b.binary(BinaryKind::add, y, x)));
}

/// The sum's other operand is on the left, and is read again later.
void conv_add_of_a_tensor_read_later(NetworkBuilder& b) {
  const TensorId x = relu(b, conv3(b, b.input({1, 16, 7, 7}), 16));
  const TensorId sum = b.binary(BinaryKind::add, x, conv3(b, x, 16));
  b.output(b.binary(BinaryKind::mul, sum, x));
}

/// The convolution's result is needed besides the sum: it must not be overwritten by it.
void conv_read_twice(NetworkBuilder& b) {
  const TensorId x = b.input({1, 16, 7, 7});
  const TensorId y = conv3(b, x, 16);
  b.output(relu(b, b.binary(BinaryKind::add, y, x)));
  b.output(b.unary(UnaryKind::tanh, y));
}

void sum_of_two_convs(NetworkBuilder& b) {
  const TensorId x = b.input({1, 16, 8, 8});
  const TensorId left = b.conv(x, 32, window(1, {.stride = 2}));
  const TensorId right = b.conv(x, 32, window(3, {.stride = 2, .pad = 1}));
  b.output(relu(b, b.binary(BinaryKind::add, left, right)));
}

void conv_plus_broadcast(NetworkBuilder& b) {
  const TensorId y = conv3(b, b.input({1, 16, 7, 7}), 16);
  b.output(relu(b, b.binary(BinaryKind::add, y, b.input({1, 16, 1, 1}))));
}

void inception(NetworkBuilder& b) {
  const TensorId x = relu(b, conv3(b, b.input({1, 3, 9, 9}), 16));
  const Pool same{PoolKind::max, window(3, {.pad = 1})};
  const std::vector<TensorId> branches{relu(b, b.conv(x, 8, window(1))),
                                       relu(b, conv3(b, relu(b, b.conv(x, 4, window(1))), 12)),
                                       b.conv(b.pool(same, x), 8, window(1))};
  b.output(conv3(b, b.concat(1, branches), 16));
}

void dense_block(NetworkBuilder& b) {
  TensorId x = b.input({1, 8, 6, 6});
  for (int i = 0; i < 4; ++i) x = b.concat(1, {x, relu(b, conv3(b, x, 6))});
  b.output(x);
}

/// A concatenated part that is a network output too.
void concat_of_an_output(NetworkBuilder& b) {
  const TensorId x = b.input({1, 8, 6, 6});
  const TensorId y = relu(b, conv3(b, x, 8)), z = conv3(b, x, 8);
  b.output(y);
  b.output(b.concat(1, {y, z}));
}

void concat_of_concats(NetworkBuilder& b) {
  const TensorId x = b.input({1, 8, 4, 4});
  const TensorId first = b.concat(1, {relu(b, x), b.unary(UnaryKind::tanh, x)});
  b.output(b.concat(1, {first, b.unary(UnaryKind::sigmoid, x), first}));
}

void shuffle(NetworkBuilder& b) {
  const TensorId x = conv3(b, b.input({1, 16, 6, 6}), 16);
  const std::vector<TensorId> halves = b.split(1, x, {8, 8});
  const TensorId y = b.concat(1, {halves[0], relu(b, conv3(b, halves[1], 8))});
  const TensorId grouped = b.layer(Reshape{}, {y}, {1, 2, 8, 6, 6});
  const TensorId turned = b.layer(Transpose{{0, 2, 1, 3, 4}}, {grouped}, {1, 8, 2, 6, 6});
  b.output(b.layer(Reshape{}, {turned}, {1, 16, 6, 6}));
}

void split_with_an_unread_part(NetworkBuilder& b) {
  const std::vector<TensorId> parts = b.split(1, relu(b, b.input({1, 12, 4, 4})), {4, 4, 4});
  b.output(b.binary(BinaryKind::add, parts[0], parts[2]));
}

void output_that_is_read(NetworkBuilder& b) {
  const TensorId x = relu(b, conv3(b, b.input({1, 8, 5, 5}), 8));
  b.output(x);
  b.output(conv3(b, x, 4));
}

void classifier(NetworkBuilder& b) {
  const TensorId x = relu(b, conv3(b, b.input({2, 3, 8, 8}), 16));
  const TensorId pooled = b.pool({PoolKind::average, window(8)}, x);
  const TensorId flat = b.layer(Reshape{}, {pooled}, {2, 16});
  const TensorId w = b.constant({10, 16}), bias = b.constant(Shape{10});
  const TensorId scores = b.layer(Gemm{.transpose_b = true}, {flat, w, bias}, {2, 10});
  b.output(b.layer(Softmax{1, 2, false}, {scores}, {2, 10}));
}

void long_skip(NetworkBuilder& b) {
  const TensorId x = relu(b, conv3(b, b.input({1, 8, 6, 6}), 8));
  TensorId y = x;
  for (int i = 0; i < 6; ++i) y = relu(b, conv3(b, y, 8));
  b.output(b.binary(BinaryKind::mul, y, x));
}

void several_inputs(NetworkBuilder& b) {
  const TensorId x = b.input({1, 4, 5, 5}), y = b.input({1, 4, 5, 5}), z = b.input({4, 1, 1});
  b.output(b.binary(BinaryKind::max, b.binary(BinaryKind::sub, x, y), z));
  b.output(b.binary(BinaryKind::add, y, z));
}

ConformanceCase random_case(std::uint64_t seed) {
  return {"random_" + std::to_string(seed), [seed](NetworkBuilder& b) {
            Random random(seed);
            b = NetworkBuilder(random_network(random, 30));
          }};
}

}  // namespace

std::vector<ConformanceCase> graph_cases() {
  std::vector<ConformanceCase> cases{
      {"conv_relu", conv_relu},
      {"conv_clip", conv_clip},
      {"conv_add_relu", conv_add_relu},
      {"conv_add_of_a_tensor_read_later", conv_add_of_a_tensor_read_later},
      {"conv_read_twice", conv_read_twice},
      {"sum_of_two_convs", sum_of_two_convs},
      {"conv_plus_broadcast", conv_plus_broadcast},
      {"inception", inception},
      {"dense_block", dense_block},
      {"concat_of_an_output", concat_of_an_output},
      {"concat_of_concats", concat_of_concats},
      {"shuffle", shuffle},
      {"split_with_an_unread_part", split_with_an_unread_part},
      {"output_that_is_read", output_that_is_read},
      {"classifier", classifier},
      {"long_skip", long_skip},
      {"several_inputs", several_inputs},
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) cases.push_back(random_case(seed));
  return cases;
}

Network network_of(const ConformanceCase& test) {
  NetworkBuilder builder;
  test.build(builder);
  return builder.build();
}

std::vector<ConformanceCase> all_cases() {
  std::vector<ConformanceCase> all;
  for (const auto& part :
       {convolution_cases(), pool_cases(), product_cases(), normalization_cases(), element_cases(),
        movement_cases(), quantized_cases(), quantized_networks(), graph_cases(), function_cases(),
        sequence_cases()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace millrace::test
