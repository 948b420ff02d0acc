#pragma once
// A network with what stands before and behind it: from pictures to results.
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "application/detections.h"
#include "application/placement.h"
#include "base/units.h"
#include "board/variant.h"
#include "formats/model_source.h"

namespace millrace::application {

enum class InputKind { images, video, camera, arrays };
/// What happens to a frame of live input for which there is no room.
enum class Drop { block, oldest, newest };

/// What happens at a picture of a folder that cannot be decoded.
enum class OnError { skip, stop };

struct Input {
  InputKind kind = InputKind::images;
  std::string path;     // of an image or a folder of them, a video, an array; of a camera its
                        // number, its device or its address
  double rate_fps = 0;  // above 0: played as live at this rate
  Drop drop = Drop::block;  // of a camera that the file says no more of: oldest, with a queue of 1
  OnError on_error = OnError::skip;
  std::int64_t queue = 4;   // frames that wait at most, of live input
  std::int64_t frames = 0;  // at most; 0: all
  // For a camera: it counts as frozen after `watchdog` without a picture, and is connected again;
  // this is tried for `reconnect` before the input ends, 0: not at all.
  Time watchdog = std::chrono::seconds(10), reconnect = std::chrono::seconds(30);
  std::string place;        // in the file
  std::string name = {};    // of several inputs: by which results say where they are from

  bool operator==(const Input&) const = default;
  bool is_live() const { return kind == InputKind::camera || rate_fps > 0; }
};

/// Who does it: how many threads, and on which cores each may run (empty: any).
struct Workers {
  int threads = 1;
  std::vector<int> cores = {};
  std::string place = {};  // of `cores` in the file
};

enum class Interpolation { linear, area, nearest, darknet };
enum class Colours { rgb, bgr, grey };
enum class Layout { nchw, nhwc };

/// Pictures to one input: each byte times scale, less mean, by deviation.
struct ImageSettings {
  Fit fit = Fit::stretch;
  Interpolation interpolation = Interpolation::linear;
  Colours colours = Colours::rgb;
  std::optional<Layout> layout = std::nullopt;  // none: as the input's shape says
  double scale = 1.0 / 255;
  std::vector<double> mean{0, 0, 0}, deviation{1, 1, 1};
  double fill = 0.5;  // beside a letterboxed picture, of the range of a byte
};

struct Preprocess {
  std::string kind = "image";
  ImageSettings image;
  std::map<std::string, std::string> parameters = {};  // of a plug-in's
  Workers workers;
  std::string place;
  /// Nothing is said of the pixels: `image` becomes what the head's networks are trained with.
  bool as_trained = false;
};

struct Postprocess {
  std::string kind = "top_k";
  std::int64_t top = 5;
  DetectionSettings detection;
  bool normalise = false;  // of embeddings: to length 1
  std::vector<std::string> alphabet = {};  // of text: its characters in the network's order
  std::string alphabet_file = {};          // that they were read from; empty: none
  bool blank_is_last = false;              // the symbol of text that stands for none; else first
  std::map<std::string, std::string> parameters = {};
  Workers workers;
  std::string place;
};

struct Output {
  std::string json;    // a file of JSON lines; empty: standard output, unless there is another
  std::string images;  // a folder of annotated pictures
  std::string video;   // an annotated video
  std::string maps;    // a folder of pictures with the class of each pixel
  bool operator==(const Output&) const = default;
};

/// How its network is divided: a plan, or what one is made from.
struct ByHand {
  std::string plan;                     // a file; empty: the rest says it
  std::string board;                    // that it is for, as `plan --board`; empty: this machine
  std::vector<std::string> devices;     // by stage; replicas are joined: "core0+core1"
  std::vector<std::string> cut_points;  // the last layer of each stage but the last: number or name
  std::vector<std::int64_t> streams = {};            // by stage; empty: 1
  std::vector<board::Precision> precisions = {};     // by stage; empty: the application's
  std::optional<std::int64_t> slots = std::nullopt;  // of channels between stages
  std::string place = {};                            // in the file; empty: options

  bool is_given() const { return !devices.empty(); }
};

/// A second network, which looks at the part of the picture around each box.
struct Crops {
  std::int64_t most = 1;  // of a picture: those of the most probable boxes
  std::int64_t batch = 1;  // that the network is given at once; those that lack repeat the last one
  double margin = 0;  // on each side of a box, as a share of its width or height
  std::vector<std::string> classes = {};  // of the boxes, names or numbers; empty: all
  formats::ModelSource model;
  Preprocess preprocess;  // by the threads of the application's post-processing
  Postprocess postprocess;
  std::vector<std::string> labels = {};
  std::string labels_file = {};
  std::string plan = {};       // a file; empty: in one piece on a processor
  std::string processor = {};  // its name; empty: one that the other network does not use
  std::string place = {}, classes_place = {}, batch_place = {}, processor_place = {};
};

/// Paths of what is read are as they are opened: those in the file are relative to its folder.
struct Application {
  std::string name, file;
  formats::ModelSource model;
  std::vector<board::Precision> precisions{board::Precision::f32};
  Input input;
  std::vector<Input> beside = {};  // more inputs, at the same time; all are live or none is
  Preprocess preprocess;
  Postprocess postprocess;
  std::vector<std::string> labels = {};
  std::string labels_file = {};  // that they were read from; empty: none
  Output output;
  std::vector<std::string> plugins = {};
  ByHand mapping = {};
  std::optional<Crops> crops = {};

  bool has_several_inputs() const { return !beside.empty(); }
  std::vector<Input> inputs() const;
};

inline std::vector<Input> Application::inputs() const {
  std::vector<Input> all{input};
  all.insert(all.end(), beside.begin(), beside.end());
  return all;
}

}  // namespace millrace::application
