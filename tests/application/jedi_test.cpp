#include "application/jedi/import_jedi.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "application/application_file.h"
#include "base/file.h"
#include "base/yaml.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::application::jedi {
namespace {

std::string around(const std::string& settings, const std::string& number = "1") {
  return "configs = {\n instance_num = \"" + number + "\";\n instances = (\n  {\n" + settings +
         "  }\n );\n}\n";
}

std::string message(const std::string& content) {
  return test::message_of([&] { parse(content, "x.cfg"); });
}

/// Counted by JEDI: convolution 0, its activation 1, pooling 2, convolution 3, head 4.
constexpr const char* darknet =
    "[net]\nwidth=32\nheight=32\nchannels=3\n[convolutional]\nfilters=8\nsize=3\npad=1\n"
    "stride=2\nactivation=leaky\n[maxpool]\nsize=2\nstride=2\n[convolutional]\nfilters=12\n"
    "size=1\nstride=1\nactivation=linear\n[yolo]\nclasses=1\nnum=2\nanchors=1,2,3,4\n";

TEST(jedi, reads_values_in_quotation_marks_and_numbers) {
  const Configuration found =
      parse(around("batch = \" 4 \"; streams = \"1, 2,3\" device_num = 2\n"), "x.cfg");
  ASSERT_EQ(found.instances.size(), 1u);
  const Instance& instance = found.instances[0];
  EXPECT_EQ(instance.count("batch", 1, 8), 4);
  EXPECT_EQ(instance.count("device_num", 1, 8), 2);
  EXPECT_EQ(instance.counts("streams", 9), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(instance.count("offset", 0, 8), 0);
}

TEST(jedi, takes_so_many_instances_as_instance_num_says) {
  const std::string two = "configs = { instance_num = \"1\"; instances = ({}, {}); }";
  const Configuration found = parse(two, "x.cfg");
  EXPECT_EQ(found.instances.size(), 1u);
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_NE(
      message(around("", "2")).find("x.cfg: line 2: instance_num: found '2', but there are 1"),
      std::string::npos);
}

struct Wrong {
  std::string content, words;
};

TEST(jedi, names_line_finding_and_remedy) {
  const Wrong cases[] = {
      {"configs = { instance_num = ", "x.cfg: line 1: syntax error"},
      {around("cut_point = \"1\";"),
       "x.cfg: line 5: 'cut_point' is no key of JEDI's; did you "
       "mean 'cut_points'?"},
      {around("batch = ( 1 );"), "batch: expected a value in quotation marks"},
      {around("batch = \"1\"; batch = \"2\";"), "x.cfg: line 5: duplicate setting name"},
      {"a = 1;", "has no 'configs' (found 'a')"},
      {"configs = 1;", "has no 'instance_num' (found nothing)"},
      {"  @include \"/etc/passwd\"\n", "line 1: includes another file, which is not read"},
      {std::string("a = 1;\0b", 8), "holds a byte 0"},
      {"a = " + std::string(40, '('), "more than 32 levels of brackets"},
      {"# (\" )\n/*/(\"*/ b = \"\\\")\";\na = (\")\", (\")\", " + std::string(31, '('),
       "line 3: has more than 32 levels of brackets"},
      {"a = 1;\nb = \"c;\n", "line 3: syntax error"},
      {std::string(300'000, ' '), "has 300000 bytes"},
      {around("batch = \"a\\x01\";"), "control character"},
      {around("image_path = \"list\xad\";"),
       "x.cfg: line 5: image_path: holds a byte that is not UTF-8; save the file as UTF-8"},
  };
  for (const Wrong& wrong : cases)
    EXPECT_NE(message(wrong.content).find(wrong.words), std::string::npos)
        << message(wrong.content) << "\nexpected: " << wrong.words;
}

TEST(jedi, keys_of_own_applications_are_free) {
  const Configuration found = parse(around("app_type = \"Mine\"; gamma = \"2\";"), "x.cfg");
  EXPECT_EQ(found.instances[0].text("gamma"), "2");
}

class Importing : public testing::Test {
 protected:
  Importing() {
    write_file(folder.path() / "net.cfg", darknet);
    write_file(folder.path() / "names", "thing\n");
    write_file(folder.path() / "list.txt", "pictures/a.png\npictures/b.png\n");
  }
  Imported import(const std::string& more) const {
    const std::string file = (folder.path() / "x.cfg").string();
    const Configuration found =
        parse(around("cfg_path = \"net.cfg\";\nimage_path = \"list.txt\";\n" + more), file);
    instance = std::make_unique<Instance>(found.instances[0]);
    return import_instance(*instance, file, folder.path());
  }
  Application application_of(const Imported& imported) const {
    const auto path = folder.path() / "out.yaml";
    write_yaml(path, nlohmann::ordered_json::parse(imported.application));
    return read_application(path);
  }
  std::string error_of(const std::string& more) const {
    return test::message_of([&] { import(more); });
  }
  std::vector<std::size_t> layers_of(const std::string& more) const {
    const Imported imported = import("devices = \"DLA,GPU\";\n" + more);
    return last_layers(network::darknet::read_darknet({.file = folder.path() / "net.cfg"}),
                       imported.stages, *instance);
  }

  test::TemporaryFolder folder;
  mutable std::unique_ptr<Instance> instance;
};

TEST_F(Importing, refuses_paths_that_no_application_can_hold) {
  write_file(folder.path() / "list.txt", "pictures\xad/a.png\n");
  EXPECT_NE(error_of("").find("x.cfg: has, or names, a path that is not UTF-8 text"),
            std::string::npos)
      << error_of("");
}

TEST_F(Importing, gives_an_application_that_is_read_again) {
  const Imported imported = import(
      "network_name = \"yolo3\"; name_path = \"names\"; pre_thread_num = \"2\"; "
      "post_thread_num = \"3\"; sample_size = \"7\"; data_type = \"INT8\";");
  EXPECT_EQ(imported.name, "yolo3");
  EXPECT_TRUE(imported.stages.empty());
  const Application a = application_of(imported);
  EXPECT_EQ(a.name, "yolo3");
  EXPECT_TRUE(std::filesystem::equivalent(a.model.file, folder.path() / "net.cfg"));
  EXPECT_EQ(a.precisions, std::vector{board::Precision::int8});
  EXPECT_EQ(a.input.frames, 7);
  EXPECT_EQ(a.preprocess.workers.threads, 2);
  EXPECT_EQ(a.postprocess.workers.threads, 3);
  EXPECT_EQ(a.postprocess.kind, "yolo");
  EXPECT_EQ(a.postprocess.detection.threshold, 0.05);
  EXPECT_EQ(a.labels, std::vector<std::string>{"thing"});
}

TEST_F(Importing, reads_the_stages) {
  const Imported imported = import(
      "devices = \"GPU,DLA,GPU\"; cut_points = \"1,2,4\"; dla_cores = \"0,2,0,1\"; "
      "device_num = \"3\"; buffer_num = \"8\"; data_type = \"FP16,INT8\";");
  using board::Precision;
  EXPECT_EQ(imported.slots, 8);
  EXPECT_EQ(imported.stages, (std::vector<Stage>{{false, 0, Precision::f16, 1},
                                                 {true, 2, Precision::int8, 2},
                                                 {false, 0, Precision::f16, 4}}));
}

TEST_F(Importing, says_what_has_no_counterpart) {
  const Imported imported = import(
      "model_dir = \"m\"; bin_path = \"b\"; streams = \"2,2\"; offset = \"3\"; "
      "calib_table = \"t\"; sample_size = \"0\"; name_path = \"nowhere\"; cut_points = \"4\";");
  for (const char* key : {"model_dir", "bin_path", "streams", "offset", "calib_table",
                          "sample_size", "name_path", "cut_points", "image_path"})
    EXPECT_EQ(std::count_if(imported.notes.begin(), imported.notes.end(),
                            [&](const std::string& n) { return n.starts_with(key); }),
              1)
        << key;
}

/// The first dimension of the network's input.
TEST_F(Importing, takes_the_batch) {
  const Imported imported = import("batch = \"4\";");
  ASSERT_EQ(imported.shapes.size(), 1u);
  EXPECT_EQ(imported.shapes.begin()->second.front(), 4);
  EXPECT_EQ(application_of(imported).model.shapes, imported.shapes);
  EXPECT_TRUE(import("batch = \"1\";").shapes.empty());
}

TEST_F(Importing, gives_own_keys_to_own_applications) {
  const Application a = application_of(import("app_type = \"Mine\"; gamma = \"2\";"));
  EXPECT_EQ(a.preprocess.kind, "Mine");
  EXPECT_EQ(a.postprocess.parameters.at("gamma"), "2");
}

TEST_F(Importing, counts_activations_as_layers) {
  // Ours: convolution, activation, pooling, convolution, head.
  EXPECT_EQ(layers_of("cut_points = \"0,4\";"), std::vector<std::size_t>{0});
  EXPECT_EQ(layers_of("cut_points = \"1,4\";"), std::vector<std::size_t>{1});
  EXPECT_EQ(layers_of("cut_points = \"2,100000\";"), std::vector<std::size_t>{2});
  EXPECT_EQ(layers_of("cut_points = \"3,4\";"), std::vector<std::size_t>{3});
}

TEST_F(Importing, refuses_what_contradicts_itself) {
  const Wrong cases[] = {
      {"devices = \"GPU,TPU\"; cut_points = \"1,4\";", "devices: found 'TPU', expected GPU or DLA"},
      {"devices = \"GPU,DLA\"; cut_points = \"4\";",
       "cut_points: has 1 entries, expected one for "
       "each of 2 stages"},
      {"devices = \"GPU,DLA\"; cut_points = \"3,3\";", "cut_points: found 3 after 3"},
      {"device_num = \"99\"; devices = \"GPU\"; cut_points = \"4\";", "expected a whole number"},
      {"data_type = \"FP8\";", "data_type: found 'FP8', expected FP32, FP16 or INT8"},
      {"pre_thread_num = \"0\";", "pre_thread_num: found '0'"},
      {"cut_points = \"1,x\"; devices = \"GPU\";", "cut_points: found 'x'"},
  };
  for (const Wrong& wrong : cases)
    EXPECT_NE(error_of(wrong.content).find(wrong.words), std::string::npos)
        << error_of(wrong.content) << "\nexpected: " << wrong.words;
  for (const auto& [cuts, words] : {std::pair{"4,5", "found 4, but the network's last layer is 4"},
                                    {"0,3", "ends with 3, but the network's last layer is 4"}})
    EXPECT_NE(test::message_of([&] {
                layers_of("cut_points = \"" + std::string(cuts) + "\";");
              }).find(words),
              std::string::npos)
        << cuts;
}

TEST_F(Importing, makes_a_harmless_name_of_any) {
  EXPECT_EQ(import("network_name = \"../../etc/x y\";").name, "______etc_x_y");
}

}  // namespace
}  // namespace millrace::application::jedi
