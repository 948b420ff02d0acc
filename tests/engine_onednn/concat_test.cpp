// Concatenations and slices that copy as little as they can.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "engine/onednn/onednn.h"
#include "engine/onednn/primitives/layout.h"
#include "nets.h"

namespace millrace::engine::onednn {
namespace {

using namespace test::onednn;  // NOLINT: the vocabulary of these tests

struct BlockOptions {
  std::int64_t frames = 1, channels = 16, growth = 16, size = 8;
  int layers = 4;
  bool parts_are_outputs = false;
};

/// As in densenet: every layer reads all that was made before it and puts its own result behind.
network::Network dense_block(const BlockOptions& options) {
  Net net;
  TensorId x =
      net.conv(net.input({options.frames, 3, options.size, options.size}), options.channels, 3);
  const auto normalized = [&](TensorId from) {
    const std::int64_t channels = net.shape(from)[1];
    const std::vector<TensorId> inputs{from, net.constant({channels}), net.constant({channels}),
                                       net.constant({channels}),
                                       net.constant({channels}, {0.5, 2})};
    return net.layer(network::BatchNormalization{1e-3f}, inputs, net.shape(from));
  };
  for (int i = 0; i < options.layers; ++i) {
    const TensorId narrow = net.conv(net.relu(normalized(x)), 32, 1);
    x = net.concat(1, {x, net.conv(net.relu(narrow), options.growth, 3)});
    if (options.parts_are_outputs) net.output(x);
  }
  net.output(net.conv(normalized(x), 8, 1));
  return net.build();
}

struct Stored {
  Layout layout;
  network::Buffer buffer;
};
using Tensors = std::map<TensorId, Stored>;

/// Reads and adds tensors in the engine's layouts; outputs of the network are plain.
void run_stage(Engine& engine, const network::Network& network, std::vector<LayerId> layers,
               Tensors& tensors) {
  SubnetRequest request;
  request.network = &network;
  request.processor = cores();
  const Border border = border_of(network, layers);
  request.layers = std::move(layers);
  request.outputs = border.outputs;
  for (const TensorId id : border.outputs)
    request.plain.push_back(std::count(network.outputs.begin(), network.outputs.end(), id) > 0);
  std::vector<const std::byte*> in;
  for (const TensorId id : border.inputs) {
    request.inputs.push_back({id, tensors.at(id).layout});
    in.push_back(tensors.at(id).buffer.data());
  }
  const auto subnet = engine.prepare(request);
  auto made = run(*subnet, in);
  for (std::size_t i = 0; i < made.size(); ++i)
    tensors[subnet->outputs()[i].tensor] = {subnet->outputs()[i].layout, std::move(made[i])};
}

/// The outputs, if the network is cut before the layer `begin`.
std::vector<Array> cut_before(Engine& engine, const network::Network& network, std::size_t begin) {
  Tensors tensors;
  const auto inputs = inputs_of(network);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    network::Buffer buffer(inputs[i].memory->size());
    std::memcpy(buffer.data(), inputs[i].memory->data(),
                static_cast<std::size_t>(buffer.size().count));
    const TensorId id = network.inputs[i];
    tensors[id] = {plain_layout(network[id]), std::move(buffer)};
  }
  std::vector<LayerId> before, after;
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    (i < begin ? before : after).push_back(LayerId(i));
  run_stage(engine, network, before, tensors);
  run_stage(engine, network, after, tensors);
  std::vector<Array> outputs;
  for (const TensorId id : network.outputs)
    outputs.push_back(
        network::make_array(network[id].type, network[id].shape, std::move(tensors.at(id).buffer)));
  return outputs;
}

/// Whole, on one and two cores, and cut at every border.
void expect_right(const network::Network& network) {
  const auto engine = make();
  const auto wanted = network::evaluate(network, inputs_of(network));
  const auto compare = [&](const std::vector<Array>& found, const std::string& how) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_LT(difference(found[i].values<float>(), wanted[i].values<float>()), 1e-5)
          << how << ", output " << i;
  };
  compare(results(*engine, network, 1), "one core");
  compare(results(*engine, network, 2), "two cores");
  for (std::size_t begin = 1; begin < network.layers.size(); ++begin)
    compare(cut_before(*engine, network, begin), "cut before " + std::to_string(begin));
}

std::size_t count_of(const network::Network& network, const std::string& kernel) {
  const auto engine = make();
  const auto subnet = engine->prepare(whole_network(network, cores()));
  const auto inputs = inputs_of(network);
  std::vector<network::Buffer> buffers;
  std::vector<std::byte*> out;
  for (const Port& port : subnet->outputs()) buffers.emplace_back(port.layout.size);
  for (network::Buffer& buffer : buffers) out.push_back(buffer.data());
  std::size_t count = 0;
  for (const GroupTime& group : subnet->run_timed(pointers(inputs), out))
    count += group.kernel == kernel ? 1 : 0;
  return count;
}

Memory memory_of(const network::Network& network) {
  return make()->prepare(whole_network(network, cores()))->memory();
}

/// Whether this machine's convolutions leave the channels innermost; with few instructions they do
/// not, and then nothing can grow.
bool channels_lie_inside() {
  Net net;
  net.output(net.conv(net.input({1, 32, 8, 8}), 16, 3));
  const network::Network network = net.build();
  SubnetRequest request = whole_network(network, cores());
  request.plain = {false};
  const auto engine = make();
  const Layout layout = engine->prepare(request)->outputs()[0].layout;
  return layout.format == format_of({channels_last_desc({1, 16, 8, 8})});
}

TEST(concat, a_dense_block_grows_in_one_place) {
  const network::Network net = dense_block({});
  expect_right(net);
  if (!channels_lie_inside()) GTEST_SKIP() << "convolutions lay their results in blocks here";
  EXPECT_EQ(count_of(net, "normalize"), 3u);  // the first and the last read whole tensors
}

TEST(concat, a_dense_block_of_several_frames_grows_in_one_place) {
  BlockOptions options;
  options.frames = 3;
  const network::Network net = dense_block(options);
  expect_right(net);
  if (!channels_lie_inside()) GTEST_SKIP() << "convolutions lay their results in blocks here";
  EXPECT_EQ(count_of(net, "normalize"), 3u);
}

TEST(concat, channels_that_fill_no_vector_are_copied_as_before) {
  BlockOptions options;
  options.channels = 10;
  options.growth = 7;
  const network::Network net = dense_block(options);
  EXPECT_EQ(count_of(net, "normalize"), 0u);
  expect_right(net);
}

TEST(concat, outputs_among_the_growing_tensors_are_dense) {
  BlockOptions options;
  options.parts_are_outputs = true;
  const network::Network net = dense_block(options);
  EXPECT_EQ(count_of(net, "normalize"), 0u);
  expect_right(net);
}

TEST(concat, images_of_one_pixel_are_right) {
  BlockOptions options;
  options.size = 1;
  expect_right(dense_block(options));
}

TEST(concat, large_dense_blocks_share_their_copies_among_cores) {
  BlockOptions options;
  options.size = 48;
  options.layers = 2;
  expect_right(dense_block(options));
}

TEST(concat, a_slice_has_the_bits_of_a_tensor_of_its_own) {
  const network::Network net = dense_block({});
  const auto engine = make();
  const auto whole = results(*engine, net);
  // Behind each concatenation, where the part before it becomes an output and so is dense.
  for (const std::size_t begin : {7u, 13u, 19u}) {
    const auto parts = cut_before(*engine, net, begin);
    EXPECT_EQ(
        std::memcmp(parts[0].bytes().data(), whole[0].bytes().data(), whole[0].bytes().size()), 0)
        << begin;
  }
}

TEST(concat, parts_that_follow_each_other_in_memory_are_made_in_place) {
  Net net;
  const TensorId x = net.input({1, 4, 8, 8});
  const TensorId a = net.unary(network::UnaryKind::tanh, x);
  const TensorId b = net.unary(network::UnaryKind::exp, a);
  net.output(net.concat(1, {a, b}));
  const network::Network network = net.build();
  // Everything happens in the caller's output, and each function reads and writes once.
  EXPECT_EQ(memory_of(network).arena, Bytes{0});
  EXPECT_EQ(memory_of(network).moved, Bytes{4 * 4 * 8 * 8 * 4});
  EXPECT_EQ(memory_of(network).moved_layer_by_layer, Bytes{8 * 4 * 8 * 8 * 4});
  expect_right(network);
}

TEST(concat, nested_and_shared_parts_are_right) {
  Net net;
  const TensorId x = net.input({1, 4, 8, 8});
  const TensorId a = net.unary(network::UnaryKind::tanh, x);
  const TensorId b = net.unary(network::UnaryKind::exp, a);
  const TensorId inner = net.concat(1, {a, b});
  const TensorId c = net.unary(network::UnaryKind::sigmoid, b);
  const TensorId outer = net.concat(1, {c, inner, x});
  const TensorId other = net.concat(1, {b, b, a});
  const TensorId later = net.binary(network::BinaryKind::add, a, c);
  for (const TensorId id : {outer, other, later}) net.output(id);
  net.output(net.unary(network::UnaryKind::tanh, inner));
  expect_right(net.build());
}

TEST(concat, a_part_that_is_an_output_too_is_right) {
  Net net;
  const TensorId a = net.unary(network::UnaryKind::tanh, net.input({1, 4, 8, 8}));
  const TensorId both = net.concat(1, {a, net.unary(network::UnaryKind::exp, a)});
  for (const TensorId id : {a, both}) net.output(id);
  net.output(net.unary(network::UnaryKind::sigmoid, both));
  expect_right(net.build());
}

TEST(concat, a_part_at_no_aligned_place_is_copied) {
  Net net;
  const TensorId x = net.input({1, 5, 3, 3});
  const TensorId a = net.unary(network::UnaryKind::tanh, x);
  net.output(net.concat(1, {a, net.unary(network::UnaryKind::exp, x)}));
  EXPECT_EQ(count_of(net.build(), "copy"), 1u);
  expect_right(net.build());
}

TEST(concat, a_residual_added_to_a_part_is_right) {
  Net net;
  const TensorId x = net.input({1, 16, 8, 8});
  const TensorId a = net.conv(x, 16, 3);
  const TensorId sum = net.binary(network::BinaryKind::add, net.conv(a, 16, 3), a);
  const TensorId both = net.concat(0, {a, sum});
  net.output(net.conv(both, 8, 1));
  net.output(net.binary(network::BinaryKind::add, net.conv(sum, 16, 3), sum));
  expect_right(net.build());
}

TEST(concat, slices_of_what_lies_in_one_piece_are_read_where_they_are) {
  Net net;
  const TensorId x = net.unary(network::UnaryKind::tanh, net.input({1, 12, 8, 8}));
  const auto parts = net.split(1, x, {4, 8});
  const TensorId a = net.unary(network::UnaryKind::exp, parts[0]);
  net.output(net.concat(1, {parts[1], a}));
  net.output(net.unary(network::UnaryKind::sigmoid, parts[1]));
  const network::Network network = net.build();
  EXPECT_EQ(count_of(network, "copy"), 1u);  // the part of a whole that is not a part itself
  expect_right(network);
}

TEST(concat, slices_may_be_outputs) {
  Net net;
  const TensorId x = net.unary(network::UnaryKind::tanh, net.input({1, 12, 8, 8}));
  net.output(x);
  for (const TensorId part : net.split(1, x, {4, 7, 1})) net.output(part);
  expect_right(net.build());
}

/// The numbers of images in blocks of 8 channels.
network::Buffer in_blocks(const Array& images, const Shape& shape) {
  network::Buffer result(images.memory->size());
  const auto from = images.values<float>();
  auto* const to = reinterpret_cast<float*>(result.data());
  const std::int64_t pixels = shape[2] * shape[3];
  for (std::int64_t plane = 0; plane < shape[0] * shape[1]; ++plane)
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
      to[(plane / 8 * pixels + pixel) * 8 + plane % 8] =
          from[static_cast<std::size_t>(plane * pixels + pixel)];
  return result;
}

/// One part stands twice in it, one is an output, one comes from outside, and it grows.
TEST(concat, parts_in_blocks_of_channels_are_copied_as_wholes) {
  const auto engine = make();
  for (const std::int64_t frames : {1, 3}) {
    Net net;
    const TensorId a = net.input({frames, 16, 5, 7}), b = net.input({frames, 8, 5, 7});
    const TensorId x = net.unary(network::UnaryKind::tanh, a), y = net.relu(b);
    net.output(y);
    net.output(net.concat(1, {net.concat(1, {x, y, x}), y, b}));
    const network::Network network = net.build();
    const auto inputs = inputs_of(network), wanted = network::evaluate(network, inputs);
    SubnetRequest request = whole_network(network, cores());
    std::vector<network::Buffer> blocks;
    std::vector<const std::byte*> in;
    for (std::size_t i = 0; i < 2; ++i) {
      const Shape& shape = network[network.inputs[i]].shape;
      request.inputs[i].layout.format =
          format_of({Desc(shape, Type::f32, dnnl::memory::format_tag::aBcd8b)});
      blocks.push_back(in_blocks(inputs[i], shape));
    }
    for (const network::Buffer& buffer : blocks) in.push_back(buffer.data());
    const auto subnet = engine->prepare(request);
    const auto found = run(*subnet, in);
    for (std::size_t i = 0; i < 2; ++i) {
      const auto values = wanted[i].values<float>();
      const std::span result(reinterpret_cast<const float*>(found[i].data()), values.size());
      EXPECT_LT(difference(result, values), 1e-6) << frames << " " << i;
    }
    std::vector<network::Buffer> results;
    std::vector<std::byte*> out;
    for (const Port& port : subnet->outputs()) results.emplace_back(port.layout.size);
    for (network::Buffer& result : results) out.push_back(result.data());
    for (const GroupTime& group : subnet->run_timed(in, out))
      EXPECT_EQ(group.kernel.find("simple"), std::string::npos) << group.kernel;
  }
}

}  // namespace
}  // namespace millrace::engine::onednn
