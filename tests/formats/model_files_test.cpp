#include "formats/files/model_files.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "base/file.h"
#include "formats/files/named_file.h"
#include "support/message_of.h"
#include "support/onnx_model.h"
#include "support/temporary_folder.h"

namespace millrace::formats {

using namespace network;
namespace {

namespace fs = std::filesystem;
using test::OnnxModel;

/// A field of protobuf's wire format with a text or message inside, of fewer than 128 bytes.
std::string field(int number, const std::string& content) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} +
         content;
}

constexpr int model_graph = 7, model_metadata = 14, graph_initializer = 5, tensor_name = 8,
              tensor_external = 13, entry_key = 1, entry_value = 2;
const std::string is_external{"\x70\x01"};              // TensorProto.data_location: EXTERNAL
const std::string four_floats{"\x08\x04\x10\x01"};  // dims: 4, data_type: FLOAT

std::string in_graph(const std::string& tensor) {
  return field(model_graph, field(graph_initializer, tensor));
}

TEST(NamedFile, lies_in_the_folder_or_is_not_read) {
  using enum NamedFile::Finding;
  const test::TemporaryFolder folder, outside;
  write_file(outside / "secret", "");
  write_file(folder / "a", "");
  fs::create_directory(folder / "sub");
  write_file(folder / "sub" / "b", "");
  fs::create_symlink("sub/b", folder / "inner");
  fs::create_symlink(outside / "secret", folder / "link");
  fs::create_directory_symlink(outside.path(), folder / "up");
  fs::create_symlink("/dev/null", folder / "device");
  fs::create_symlink("none", folder / "broken");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const std::vector<std::pair<std::string, NamedFile::Finding>> expected{
      {"a", inside},          {"./a", inside},
      {"sub//b", inside},     {"inner", inside},
      {"", leaves},           {"/etc/passwd", leaves},
      {"..", leaves},         {"../x", leaves},
      {"sub/../a", leaves},   {(folder / "a").string(), leaves},
      {"link", link_leaves},  {"up/secret", link_leaves},
      {"device", link_leaves}, {"up", link_leaves},
      {"broken", missing},    {"none", missing},
      {"sub", missing},       {".", missing},
      {"pipe", missing},      {std::string("a\0b", 3), leaves},
      {"a/", missing}};
  for (const auto& [name, finding] : expected)
    EXPECT_EQ(named_file(folder.path(), name).finding, finding) << name;
  EXPECT_EQ(named_file(folder.path(), "inner").path, fs::canonical(folder / "sub" / "b"));
}

class FilesOfModels : public testing::Test {
 protected:
  FilesOfModels() {
    fs::create_directories(folder_ / "model" / "sub");
    const std::vector<float> values{1, 2, 3, 4};
    const std::string bytes(reinterpret_cast<const char*>(values.data()), 16);
    for (const char* name : {"model/w.bin", "model/v.bin", "model/sub/w.bin", "outside.bin"})
      write_file(folder_ / name, bytes);
    fs::create_symlink(folder_ / "outside.bin", folder_ / "model" / "link.bin");
    fs::create_symlink("w.bin", folder_ / "model" / "inner.bin");
  }

  /// What the model has as external data, as seen from its folder. It lacks its weight, `w`, which
  /// is in the bytes behind it.
  std::vector<std::string> external_data(const std::string& behind) {
    OnnxModel model;
    model.input("x", {4}).output("y").node("Add", {"x", "w"}, {"y"});
    write_file(file_, model.bytes() + behind);
    return listed();
  }
  std::vector<std::string> listed() const {
    std::vector<std::string> names;
    const ModelFiles files = files_of({.file = file_});
    EXPECT_EQ(files.models, std::vector<fs::path>{file_});
    for (const fs::path& each : files.external_data)
      names.push_back(each.lexically_relative(folder_ / "model"));
    return names;
  }
  /// Whether the importer finds the weight.
  bool is_read() const {
    const Network network = read_network(fs::path(file_));
    return network[network.layers.at(0).inputs.at(1)].constant->values<float>()[3] == 4;
  }

  const test::TemporaryFolder folder_;
  const std::string file_ = (folder_ / "model" / "m.onnx").string();
};

using Names = std::vector<std::string>;

TEST_F(FilesOfModels, external_data_is_found_however_the_fields_lie) {
  const std::string key = field(entry_key, "location"), value = field(entry_value, "w.bin");
  const std::string name = field(tensor_name, "w");
  const std::map<std::string, std::string> forms{
      {"usual", four_floats + name + field(tensor_external, key + value) + is_external},
      {"value first", four_floats + name + field(tensor_external, value + key) + is_external},
      {"location of data first",
       is_external + field(tensor_external, value + key) + name + four_floats},
      {"value twice", four_floats + name + is_external +
                          field(tensor_external, field(entry_value, "v.bin") + key + value)},
      {"entry twice", four_floats + name + is_external +
                          field(tensor_external, key + field(entry_value, "v.bin")) +
                          field(tensor_external, key + value)},
      {"with another field", four_floats + name + is_external +
                                 field(tensor_external, key + field(3, "more") + value)},
  };
  for (const auto& [form, tensor] : forms) {
    EXPECT_EQ(external_data(in_graph(tensor)), Names{"w.bin"}) << form;
    EXPECT_TRUE(is_read()) << form;
  }
}

TEST_F(FilesOfModels, only_what_tensors_name_as_external_is_theirs) {
  const std::string entry = field(entry_key, "location") + field(entry_value, "w.bin");
  EXPECT_EQ(external_data(field(model_metadata, entry)), Names{});
  EXPECT_EQ(external_data(field(6, entry)), Names{});  // doc_string
  EXPECT_EQ(external_data(in_graph(four_floats + field(tensor_external, entry))), Names{});
}

TEST_F(FilesOfModels, nothing_outside_of_the_folder_is_theirs) {
  for (const std::string& location :
       Names{"../outside.bin", "link.bin", "sub/../../outside.bin",
             (folder_ / "outside.bin").string(), "/dev/null",
             "", ".", "sub", "none.bin", "../model/w.bin"}) {
    const std::string entry = field(entry_key, "location") + field(entry_value, location);
    EXPECT_EQ(external_data(in_graph(four_floats + is_external + field(tensor_external, entry))),
              Names{})
        << location;
  }
}

TEST_F(FilesOfModels, each_file_is_there_once_wherever_its_tensor_lies) {
  OnnxModel model;
  model.input("x", {4}).output("y");
  model.node("If", {"c"}, {"y"});
  auto& node = *model.proto().mutable_graph()->mutable_node(0);
  const auto put = [](::onnx::TensorProto& tensor, const std::string& location) {
    tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
    auto& entry = *tensor.add_external_data();
    entry.set_key("location");
    entry.set_value(location);
  };
  auto& then = *node.add_attribute()->mutable_g();
  put(*then.add_initializer(), "w.bin");
  put(*then.add_node()->add_attribute()->mutable_t(), "./w.bin");
  put(*node.add_attribute()->add_tensors(), "sub//w.bin");
  put(*model.proto().add_functions()->add_node()->add_attribute()->mutable_t(), "inner.bin");
  put(*node.add_attribute()->mutable_sparse_tensor()->mutable_values(), "v.bin");
  put(*model.proto().mutable_graph()->add_initializer(), "m.onnx");  // the model itself
  write_file(file_, model.bytes());
  std::vector<std::string> names = listed();
  std::ranges::sort(names);
  EXPECT_EQ(names, (Names{"inner.bin", "sub/w.bin", "v.bin", "w.bin"}));
}

TEST_F(FilesOfModels, weights_beside_a_configuration_lie_in_its_folder) {
  const ModelSource source{.file = (folder_ / "model" / "n.cfg").string()};
  write_file(source.file, "");
  EXPECT_EQ(files_of(source).weights, std::vector<fs::path>{});
  fs::create_symlink("../outside.bin", folder_ / "model" / "n.weights");
  EXPECT_NE(test::message_of([&] { files_of(source); }).find("outside the model's folder"),
            std::string::npos);
  fs::remove(folder_ / "model" / "n.weights");
  fs::create_symlink("w.bin", folder_ / "model" / "n.weights");
  EXPECT_EQ(files_of(source).weights, std::vector<fs::path>{folder_ / "model" / "n.weights"});
  ModelSource named = source;
  named.weights = folder_ / "outside.bin";  // by whoever types the command
  EXPECT_EQ(files_of(named).weights, std::vector<fs::path>{folder_ / "outside.bin"});
}

}  // namespace
}  // namespace millrace::formats
