// Images of one column, for which oneDNN's first choices are several times as slow as others.
#include <gtest/gtest.h>

#include "engine/onednn/onednn.h"
#include "nets.h"

namespace millrace::engine::onednn {
namespace {

using namespace test::onednn;  // NOLINT: the vocabulary of these tests
using network::Window;

TEST(one_column, convolutions_run_as_products_of_matrices) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "oneDNN has its products of matrices on x86-64 only";
#endif
  for (const std::int64_t stride : {1, 2}) {
    Net net;
    const Window window{{5, 1}, {stride, 1}, {1, 1}, {0, 0}, {0, 0}};
    const TensorId y = net.NetworkBuilder::conv(net.input({1, 16, 100, 1}), 24, window);
    net.output(net.relu(y));
    expect_equal_to_loops(net);
    const network::Network network = net.build();
    const auto engine = make();
    const auto subnet = engine->prepare(whole_network(network, cores()));
    const Array x = noise({1, 16, 100, 1}, 1);
    std::vector<network::Buffer> buffers;
    std::vector<std::byte*> out;
    for (const Port& port : subnet->outputs()) buffers.emplace_back(port.layout.size);
    for (network::Buffer& buffer : buffers) out.push_back(buffer.data());
    const std::vector<const std::byte*> in{x.memory->data()};
    const auto times = subnet->run_timed(in, out);
    EXPECT_NE(times.at(0).kernel.find("gemm"), std::string::npos) << times.at(0).kernel;
  }
}

}  // namespace
}  // namespace millrace::engine::onednn
