// The trained network of models/ does what its README says.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

#include "base/file.h"
#include "formats/read.h"
#include "network/evaluate/evaluate.h"
#include "network/npy.h"

namespace millrace::formats {

using namespace network;
namespace {

const std::filesystem::path models = std::filesystem::path(MILLRACE_SOURCE_DIR) / "models";

std::vector<int> labels() {
  std::istringstream text(read_file(models / "digits_test_labels.txt"));
  return {std::istream_iterator<int>(text), {}};
}

std::ptrdiff_t recognised(const Network& network, std::span<const float> pixels) {
  const Shape& shape = network[network.inputs[0]].shape;
  const Array image = make_array<float>(DataType::float32, shape, pixels);
  const std::vector<Array> results = evaluate(network, std::span(&image, 1));
  const auto probabilities = results.at(0).values<float>();
  return std::ranges::max_element(probabilities) - probabilities.begin();
}

TEST(Digits, at_least_97_percent_of_the_held_out_images_are_recognised) {
  const Network network = read_network(models / "digits.onnx");
  const Array images = read_npy(models / "digits_test_images.npy");
  const std::vector<int> expected = labels();
  ASSERT_EQ(images.shape, (Shape{static_cast<std::int64_t>(expected.size()), 1, 8, 8}));
  std::size_t right = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (recognised(network, images.values<float>().subspan(i * 64, 64)) == expected[i]) ++right;
  EXPECT_GE(static_cast<double>(right), 0.97 * static_cast<double>(expected.size()));
}

TEST(Digits, the_networks_size_is_the_one_in_its_description) {
  const Cost cost = cost_of(read_network(models / "digits.onnx"));
  EXPECT_EQ(cost.parameters, 75242);
  EXPECT_EQ(cost.macs, 1503232);
  EXPECT_LT(std::filesystem::file_size(models / "digits.onnx"), 1u << 20);
}

}  // namespace
}  // namespace millrace::formats
