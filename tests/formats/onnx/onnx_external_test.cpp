// Weights in files beside the model.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "formats/read.h"
#include "support/message_of.h"
#include "support/onnx_model.h"
#include "support/temporary_folder.h"

namespace millrace::formats {

using namespace network;
namespace {

namespace fs = std::filesystem;
using test::OnnxModel;

/// A folder with a model whose weight, four floats, lies where the test says.
class ExternalData : public testing::Test {
 protected:
  ExternalData() {
    fs::create_directories(folder_ / "model" / "sub");
    const std::vector<float> values{9, 1, 2, 3, 4};
    const std::string bytes(reinterpret_cast<const char*>(values.data()), 20);
    write_file(folder_ / "model" / "weights.bin", bytes);
    write_file(folder_ / "model" / "sub" / "weights.bin", bytes);
    write_file(folder_ / "outside.bin", bytes);
  }

  Network read(const std::string& location, const std::string& offset = "4",
               const std::string& length = "16") {
    OnnxModel model;
    model.input("x", {4}).weight("w", {4}).output("y");
    model.node("Add", {"x", "w"}, {"y"});
    auto& weight = *model.proto().mutable_graph()->mutable_initializer(0);
    weight.clear_raw_data();
    weight.set_data_location(::onnx::TensorProto::EXTERNAL);
    add(weight, "location", location);
    add(weight, "offset", offset);
    add(weight, "length", length);
    write_file(folder_ / "model" / "model.onnx", model.bytes());
    return read_network(folder_ / "model" / "model.onnx");
  }

  std::string message(const std::string& location, const std::string& offset = "4",
                      const std::string& length = "16") {
    try {
      read(location, offset, length);
      return "was read";
    } catch (const InputError& error) {
      return error.what();
    }
  }

  /// Two weights, one from byte 4 on and one from `offset` on: "shared", "apart" or the message.
  std::string read_twice(const std::string& offset, int type = 1) {
    OnnxModel model;
    model.input("x", {4}).weight("a", {4}).weight("b", {4}).output("a").output("b");
    for (int i = 0; i < 2; ++i) {
      auto& weight = *model.proto().mutable_graph()->mutable_initializer(i);
      weight.clear_raw_data();
      weight.set_data_location(::onnx::TensorProto::EXTERNAL);
      weight.set_data_type(type);
      add(weight, "location", "weights.bin");
      add(weight, "offset", i == 0 ? "4" : offset);
    }
    write_file(folder_ / "model" / "twice.onnx", model.bytes());
    try {
      const Network network = read_network(folder_ / "model" / "twice.onnx");
      const Array& a = *network[network.outputs[0]].constant;
      const Array& b = *network[network.outputs[1]].constant;
      return a.memory == b.memory ? "shared" : "apart";
    } catch (const InputError& error) {
      return error.what();
    }
  }

  static void add(::onnx::TensorProto& weight, const std::string& key, const std::string& value) {
    auto& entry = *weight.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }

  test::TemporaryFolder folder_;
};

TEST_F(ExternalData, is_read_from_the_models_folder) {
  for (const char* location : {"weights.bin", "sub/weights.bin", "./weights.bin"}) {
    const Network network = read(location);
    ASSERT_EQ(network.tensors.size(), 3u);
    const Tensor& weight = network[network.layers.at(0).inputs.at(1)];
    EXPECT_EQ(weight.constant->values<float>()[3], 4);
  }
}

TEST_F(ExternalData, weights_of_one_piece_share_its_memory) {
  EXPECT_EQ(read_twice("4"), "shared");
  constexpr int bfloat16 = 16;
  EXPECT_EQ(read_twice("4", bfloat16), "shared");
  EXPECT_EQ(read_twice("12", bfloat16), "apart");
  const std::string overlapping = read_twice("0");
  EXPECT_NE(overlapping.find("more bytes of 'weights.bin' than the 20"), std::string::npos)
      << overlapping;
}

/// The name of the file that the address belongs to.
std::string file_at(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream(line) >> std::hex >> begin >> dash >> end;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (at >= begin && at < end) return fs::path(line.substr(line.rfind(' ') + 1)).filename();
  }
  return {};
}

TEST_F(ExternalData, large_weights_stay_in_their_file_if_they_are_aligned_there) {
  constexpr std::int64_t count = 1 << 18;
  std::string bytes(4 * count + 200, '\0');
  const float last = 0.25f;
  for (const std::size_t offset : {64, 132})
    std::memcpy(bytes.data() + offset + 4 * (count - 1), &last, sizeof last);
  for (const std::string offset : {"64", "132"}) {
    write_file(folder_ / "model" / "large.bin", bytes);
    OnnxModel model;
    model.input("x", {count}).weight("w", {1}).output("y");
    model.node("Add", {"x", "w"}, {"y"});
    auto& weight = *model.proto().mutable_graph()->mutable_initializer(0);
    weight.set_dims(0, count);
    weight.clear_raw_data();
    weight.set_data_location(::onnx::TensorProto::EXTERNAL);
    add(weight, "location", "large.bin");
    add(weight, "offset", offset);
    write_file(folder_ / "model" / "model.onnx", model.bytes());
    const Network network = read_network(folder_ / "model" / "model.onnx");
    const Array& read = *network[network.layers.at(0).inputs.at(1)].constant;
    EXPECT_EQ(file_at(read.bytes().data()) == "large.bin", offset == "64") << offset;
    fs::remove(folder_ / "model" / "large.bin");
    EXPECT_EQ(read.values<float>().size(), static_cast<std::size_t>(count));
    EXPECT_EQ(read.values<float>().back(), last);
  }
}

TEST_F(ExternalData, outside_the_folder_is_refused) {
  const std::string absolute = (folder_ / "outside.bin").string();
  for (const std::string& location :
       std::vector<std::string>{"../outside.bin", absolute, "sub/../../outside.bin", ""})
    EXPECT_NE(message(location).find("not inside the model's folder"), std::string::npos)
        << location << ": " << message(location);
}

TEST_F(ExternalData, behind_a_link_that_leaves_the_folder_is_refused) {
  fs::create_symlink(folder_ / "outside.bin", folder_ / "model" / "link.bin");
  fs::create_directory_symlink(folder_.path(), folder_ / "model" / "up");
  EXPECT_NE(message("link.bin").find("outside the model's folder"), std::string::npos);
  EXPECT_NE(message("up/outside.bin").find("outside the model's folder"), std::string::npos);
}

TEST_F(ExternalData, a_missing_file_is_named) {
  EXPECT_NE(message("none.bin").find("'none.bin'"), std::string::npos);
  EXPECT_NE(message("sub").find("'sub'"), std::string::npos);
}

TEST_F(ExternalData, beyond_the_files_end_is_refused) {
  EXPECT_NE(message("weights.bin", "8").find("20 bytes"), std::string::npos);
  EXPECT_NE(message("weights.bin", "9223372036854775807").find("20 bytes"), std::string::npos);
}

/// The data is in files that are all holes.
TEST_F(ExternalData, of_more_bytes_than_the_machine_has_is_refused_before_it_is_read) {
  const auto memory = static_cast<std::uintmax_t>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::uintmax_t>(::sysconf(_SC_PAGESIZE));
  constexpr std::uintmax_t each = std::uintmax_t{1} << 30;
  const std::uintmax_t count = memory / each + 2;
  OnnxModel model;
  model.input("x", {4}).output("y");
  for (std::uintmax_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    auto& weight = *model.proto().mutable_graph()->add_initializer();
    weight.set_name("w" + number);
    model.output("w" + number);
    weight.set_data_type(::onnx::TensorProto::INT8);
    weight.add_dims(each);
    weight.set_data_location(::onnx::TensorProto::EXTERNAL);
    add(weight, "location", i % 2 == 0 ? "even.bin" : "odd.bin");
    add(weight, "offset", std::to_string(i / 2 * each));
  }
  model.node("Relu", {"x"}, {"y"});
  for (const char* name : {"even.bin", "odd.bin"}) {
    write_file(folder_ / "model" / name, "");
    fs::resize_file(folder_ / "model" / name, (count + 1) / 2 * each);
  }
  write_file(folder_ / "model" / "large.onnx", model.bytes());
  EXPECT_NE(test::message_of([&] { read_network(folder_ / "model" / "large.onnx"); })
                .find("but this machine has"),
            std::string::npos);
}

TEST_F(ExternalData, with_impossible_numbers_is_refused) {
  EXPECT_NE(message("weights.bin", "-4").find("offset"), std::string::npos);
  EXPECT_NE(message("weights.bin", "4x").find("offset"), std::string::npos);
  EXPECT_NE(message("weights.bin", "4", "12").find("12 bytes"), std::string::npos);
}

}  // namespace
}  // namespace millrace::formats
