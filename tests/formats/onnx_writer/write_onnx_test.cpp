// Networks of the zoo, written and read back.
#include <gtest/gtest.h>

#include <fstream>

#include "formats/onnx_writer/write_onnx.h"
#include "formats/read.h"
#include "formats/zoo.h"
#include "network/evaluate/evaluate.h"
#include "network/simplify/simplify.h"
#include "support/network_builder.h"
#include "support/renumbered.h"
#include "support/temporary_folder.h"

namespace millrace::formats {

using namespace network;
namespace {

Network zoo_network(std::string_view name) {
  return read_onnx(zoo_model(name), std::string(name), {});
}

Network read_back(const OnnxModel& model, const std::filesystem::path& folder = {}) {
  return read_onnx(model.bytes, "written", folder);
}

/// What lies beside the model.
void write_weights(const Network& network, const OnnxModel& model,
                   const std::filesystem::path& folder) {
  std::ofstream file(folder / "weights", std::ios::binary);
  for (const OnnxModel::Weight& weight : model.weights) {
    const auto bytes = network[weight.tensor].constant->bytes();
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
}

class WrittenZoo : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(each, WrittenZoo, testing::ValuesIn(zoo_names()),
                         [](const auto& test) { return test.param; });

TEST_P(WrittenZoo, is_the_network_that_it_was) {
  const Network network = zoo_network(GetParam());
  const test::TemporaryFolder folder;
  const OnnxModel model = write_onnx(network, OnnxWriting{.weights_inside = false});
  EXPECT_LT(model.bytes.size(), std::size_t{1} << 20);
  write_weights(network, model, folder.path());
  EXPECT_EQ(hash_of(test::renumbered(read_back(model, folder.path()))),
            hash_of(test::renumbered(network)));
}

TEST(WriteOnnx, keeps_weights_inside_if_asked_to) {
  const Network network = zoo_network("squeezenet1_1");
  const OnnxModel model = write_onnx(network);
  EXPECT_TRUE(model.weights.empty());
  EXPECT_EQ(hash_of(test::renumbered(read_back(model))), hash_of(test::renumbered(network)));
}

}  // namespace
}  // namespace millrace::formats
