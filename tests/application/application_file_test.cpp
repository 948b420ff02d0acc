#include "application/application_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "base/yaml.h"
#include "support/message_of.h"
#include "support/schema.h"
#include "support/temporary_folder.h"

namespace millrace::application {
namespace {

const std::filesystem::path project = MILLRACE_SOURCE_DIR;

std::string base() {
  return "format: 1\nnetwork: {model: net.onnx}\ninput: {images: pictures}\n"
         "postprocess: {kind: raw}\n";
}

std::string message(const std::string& content) {
  return test::message_of([&] { parse_application(content, "folder/a.yaml"); });
}

TEST(application_file, has_paths_relative_to_its_folder_and_zoo_names_as_they_are) {
  const Application a = parse_application(base(), "folder/a.yaml");
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.model.file, "folder/net.onnx");
  EXPECT_EQ(a.input.path, "folder/pictures");
  const std::string zoo =
      "format: 1\nnetwork: {model: resnet18}\ninput: {camera: 0}\npostprocess: {kind: top_k}\n";
  const Application b = parse_application(zoo, "folder/b.yaml");
  EXPECT_EQ(b.model.file, "resnet18");
  EXPECT_EQ(b.input.kind, InputKind::camera);
  EXPECT_EQ(b.input.path, "0");
  EXPECT_TRUE(b.input.is_live());
}

TEST(application_file, reads_every_key) {
  const Application a = parse_application(R"(format: 1
name: street
network: {model: tiny.cfg, weights: /w/tiny.weights, size: 416}
precision: [f32, bf16]
input: {video: street.avi, rate_fps: 30, drop: oldest, queue: 2, frames: 100}
preprocess: {fit: letterbox, interpolation: darknet, colours: bgr, layout: nchw, scale: 1,
             mean: [1, 2, 3], deviation: 2, fill: 0, threads: 2, cores: [0, 1]}
postprocess:
  kind: yolo
  threshold: 0.3
  suppression: 0.4
  candidates: 50
  threads: 3
  heads:
    - {output: a, anchors: [[1, 2], [3, 4]], activated: false, scale_x_y: 1.05, new_coords: true}
labels: [one, two]
output: {json: r.jsonl, images: out, video: out.avi}
plugins: [p.so]
)",
                                          "f/a.yaml");
  EXPECT_EQ(a.name, "street");
  EXPECT_EQ(a.model.weights, "/w/tiny.weights");
  EXPECT_EQ(a.model.size, 416);
  EXPECT_EQ(a.precisions, (std::vector{board::Precision::f32, board::Precision::bf16}));
  EXPECT_EQ(a.input.rate_fps, 30);
  EXPECT_EQ(a.input.drop, Drop::oldest);
  EXPECT_EQ(a.input.frames, 100);
  EXPECT_EQ(a.preprocess.image.fit, Fit::letterbox);
  EXPECT_EQ(a.preprocess.image.interpolation, Interpolation::darknet);
  EXPECT_EQ(a.preprocess.image.deviation, (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(a.preprocess.workers.cores, (std::vector<int>{0, 1}));
  EXPECT_EQ(a.postprocess.workers.threads, 3);
  ASSERT_EQ(a.postprocess.detection.heads.size(), 1u);
  const HeadSettings& head = a.postprocess.detection.heads[0];
  EXPECT_EQ(head.anchors.size(), 2u);
  EXPECT_FALSE(head.activated);
  EXPECT_TRUE(head.new_coords);
  EXPECT_EQ(a.output.video, "out.avi");
  EXPECT_EQ(a.plugins, (std::vector<std::string>{"f/p.so"}));
}

TEST(application_file, reads_what_detect_is_told) {
  const Application a = parse_application(R"(format: 1
network: {model: pose.onnx}
input: {images: pictures}
postprocess: {kind: detect, head: yolov8, task: pose, keypoints: [5, 2], skeleton: [[0, 1], [1, 2]],
              class_agnostic: true}
)",
                                          "f/a.yaml");
  const DetectionSettings& detection = a.postprocess.detection;
  EXPECT_EQ(detection.head, "yolov8");
  EXPECT_EQ(detection.facts.task, "pose");
  EXPECT_EQ(detection.facts.keypoints, 5);
  EXPECT_EQ(detection.facts.keypoint_values, 2);
  EXPECT_EQ(*detection.skeleton, (Skeleton{{0, 1}, {1, 2}}));
  EXPECT_TRUE(detection.class_agnostic);
}

TEST(application_file, names_place_finding_and_the_nearest_key) {
  EXPECT_EQ(message(base() + "postproces: 1\n").find("folder/a.yaml: line "), 0u);
  EXPECT_NE(message(base() + "postproces: 1\n").find("did you mean 'postprocess'"),
            std::string::npos);
  EXPECT_NE(message(base() + "output: {jsn: a}\n").find("did you mean 'json'"), std::string::npos);
}

struct Wrong {
  const char* more;
  const char* words;
};
class WrongFile : public testing::TestWithParam<Wrong> {};

TEST_P(WrongFile, is_refused_with_a_reason) {
  const std::string text = message(base() + GetParam().more);
  EXPECT_EQ(text.find("folder/a.yaml"), 0u) << text;
  EXPECT_NE(text.find(GetParam().words), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, WrongFile,
    testing::Values(Wrong{"preprocess: {fit: wide}\n", "expected one of stretch, letterbox"},
                    Wrong{"preprocess: {threads: 0}\n", "expected an integer from 1"},
                    Wrong{"preprocess: {mean: [1, 2]}\n", "one for each of 3 channels"},
                    Wrong{"preprocess: {deviation: 0}\n", "expected a number above 0"},
                    Wrong{"preprocess: {kind: yolo}\n", "'yolo' is no pre-processing"},
                    Wrong{"preprocess: {kind: mine, fit: stretch}\n", "fit"},
                    Wrong{"precision: []\n", "found none"}, Wrong{"precision: [f31]\n", "f31"},
                    Wrong{"labels: nowhere.names\n", "nowhere.names"}));

TEST(application_file, needs_one_input_and_options_that_fit_it) {
  const auto with = [](const std::string& input) {
    return message("format: 1\nnetwork: {model: n}\npostprocess: {kind: raw}\ninput: " + input +
                   "\n");
  };
  EXPECT_NE(with("{images: a, video: b}").find("found 2 of images"), std::string::npos);
  EXPECT_NE(with("{images: a, drop: oldest}").find("is for live input"), std::string::npos);
  EXPECT_NE(with("{camera: 0, rate_fps: 3}").find("a rate of its own"), std::string::npos);
  EXPECT_NE(with("{video: a, watchdog_s: 3}").find("is for a camera"), std::string::npos);
}

TEST(application_file, takes_the_newest_frame_of_a_camera_unless_it_says_otherwise) {
  const auto with = [](const std::string& input) {
    return parse_application("format: 1\nnetwork: {model: n}\npostprocess: {kind: raw}\ninput: " +
                                 input + "\n",
                             "a.yaml")
        .input;
  };
  for (const char* camera : {"{camera: 0}", "{camera: 'http://cam/v.mjpg'}"}) {
    EXPECT_EQ(with(camera).drop, Drop::oldest);
    EXPECT_EQ(with(camera).queue, 1);
  }
  EXPECT_EQ(with("{camera: 0, drop: block}").drop, Drop::block);
  EXPECT_EQ(with("{camera: 0, drop: block}").queue, 4);
  EXPECT_EQ(with("{camera: 0, queue: 3}").queue, 3);
  EXPECT_EQ(with("{video: a.avi, rate_fps: 3}").drop, Drop::block);
  EXPECT_EQ(with("{camera: 0}").watchdog, std::chrono::seconds(10));
  EXPECT_EQ(with("{camera: 0, watchdog_s: 0.5}").watchdog, std::chrono::milliseconds(500));
  EXPECT_EQ(with("{camera: 0, reconnect_s: 0}").reconnect, Time{});
}

TEST(application_file, shows_no_password_of_a_camera) {
  for (const char* input :
       {"{camera: 'rtsp:/admin:secret@cam/1'}", "{camera: 'admin:secret@cam/1'}",
        "{camera: 'rtsp://admin:sec ret@cam/1'}", "{camera: 'http://cam/v?token=secret it'}",
        "{cameras: 'rtsp://admin:secret@cam/1'}", "{camera: 0, drop: 'rtsp://a:secret@cam/1'}",
        "{camera: 0, queue: 'rtsp://admin:secretsecretsecretsecretsecretsecret@cam/1'}"}) {
    const std::string said = message("format: 1\nnetwork: {model: n}\npostprocess: {kind: raw}\n"
                                     "input: " + std::string(input) + "\n");
    EXPECT_NE(said, "no error") << input;
    EXPECT_EQ(said.find("sec"), std::string::npos) << said;
  }
  const Application two = parse_application(
      "format: 1\nnetwork: {model: n}\npostprocess: {kind: raw}\ninput: [{camera: "
      "'rtsp://admin:secret@cam/1'}, {camera: 'http://cam/v?key=secret'}]\n",
      "a.yaml");
  for (const Input& input : two.inputs()) EXPECT_EQ(input.name.find("secret"), std::string::npos);
}

TEST(application_file, has_a_pre_processing_thread_for_each_input) {
  const auto threads = [](const std::string& preprocess) {
    return parse_application("format: 1\nnetwork: {model: n}\npostprocess: {kind: raw}\n" +
                                 preprocess + "input: [{video: a, name: a}, {video: b, name: b}]\n",
                             "a.yaml")
        .preprocess.workers.threads;
  };
  EXPECT_EQ(threads(""), 2);
  EXPECT_EQ(threads("preprocess: {scale: 1}\n"), 2);
  EXPECT_EQ(threads("preprocess: {threads: 1}\n"), 1);
  EXPECT_EQ(parse_application(base(), "a.yaml").preprocess.workers.threads, 1);
}

TEST(application_file, names_cameras_by_number_device_or_address_and_nothing_else) {
  const auto with = [](const std::string& camera) {
    return message("format: 1\nnetwork: {model: n}\npostprocess: {kind: raw}\ninput:\n  camera: " +
                   camera + "\n");
  };
  for (const char* camera : {"0", "/dev/video12", "rtsp://user:word@10.0.0.7:554/stream?a=1",
                             "http://cam/video.mjpg", "udp://@239.0.0.1:1234"})
    EXPECT_EQ(with(camera), "no error") << camera;
  for (const char* camera :
       {"-1", "0x1", "/dev/sda", "/dev/video0/../sda", "street.avi", "file:///etc/passwd",
        "concat:a|b", "rtsp://", "\"http://a ! filesink location=b\"", "\"http://a!b\"",
        "\"filesrc location=a ! filesink location=b\"", "\"http://a b\""})
    EXPECT_EQ(with(camera).find("folder/a.yaml: line 5: input.camera: found the camera '"), 0u)
        << camera << ": " << with(camera);
}

TEST(application_file, names_only_plug_ins_in_its_folder) {
  const test::TemporaryFolder outside, folder;
  std::filesystem::create_directory(folder / "inside");
  std::filesystem::create_symlink(outside.path(), folder / "link");
  std::ofstream(outside / "p.so") << "code";
  std::filesystem::create_symlink(outside / "p.so", folder / "p_link.so");
  const std::string file = (folder / "a.yaml").string();
  const auto with = [&](const std::string& plugin) {
    return test::message_of(
        [&] { parse_application(base() + "plugins: [" + plugin + "]\n", file); });
  };
  for (const char* plugin : {"p.so", "inside/p.so", "inside/../p.so"})
    EXPECT_EQ(with(plugin), "no error") << plugin;
  for (const std::string plugin : {"../p.so", "link/p.so", "p_link.so", "/usr/lib/p.so"})
    EXPECT_NE(with(plugin).find("is outside of the application's folder"), std::string::npos)
        << plugin << ": " << with(plugin);
}

class ShippedApplication : public testing::TestWithParam<const char*> {};

TEST_P(ShippedApplication, is_as_the_schema_says_and_is_read) {
  const auto schema = read_json(project / "schemas/application.schema.json");
  const auto path = project / GetParam();
  EXPECT_EQ(test::violations(test::to_json(read_yaml(path)), schema), std::vector<std::string>{});
  EXPECT_FALSE(read_application(path).model.file.empty());
}

INSTANTIATE_TEST_SUITE_P(Files, ShippedApplication,
                         testing::Values("examples/applications/digits.yaml",
                                         "examples/cascade/cascade.yaml",
                                         "examples/plugin/application.yaml"));

}  // namespace
}  // namespace millrace::application
