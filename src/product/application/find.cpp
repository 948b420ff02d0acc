#include "product/application/find.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "application/application_file.h"
#include "application/heads/metadata.h"
#include "application/image_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "product/memory/in_memory.h"
#include "product/open_model.h"
#include "product/written_over.h"

namespace millrace::product {
namespace {

namespace fs = std::filesystem;
using Yaml = nlohmann::ordered_json;  // JSON is YAML
using network::Network;

constexpr std::array<std::string_view, 5> task_words{"detect", "classify", "segment", "pose",
                                                     "read"};

/// COCO's 80 classes, in the order in which detectors are trained on them.
constexpr std::array<std::string_view, 80> coco{"person",        "bicycle",      "car",
                                                "motorcycle",    "airplane",     "bus",
                                                "train",         "truck",        "boat",
                                                "traffic light", "fire hydrant", "stop sign",
                                                "parking meter", "bench",        "bird",
                                                "cat",           "dog",          "horse",
                                                "sheep",         "cow",          "elephant",
                                                "bear",          "zebra",        "giraffe",
                                                "backpack",      "umbrella",     "handbag",
                                                "tie",           "suitcase",     "frisbee",
                                                "skis",          "snowboard",    "sports ball",
                                                "kite",          "baseball bat", "baseball glove",
                                                "skateboard",    "surfboard",    "tennis racket",
                                                "bottle",        "wine glass",   "cup",
                                                "fork",          "knife",        "spoon",
                                                "bowl",          "banana",       "apple",
                                                "sandwich",      "orange",       "broccoli",
                                                "carrot",        "hot dog",      "pizza",
                                                "donut",         "cake",         "chair",
                                                "couch",         "potted plant", "bed",
                                                "dining table",  "toilet",       "tv",
                                                "laptop",        "mouse",        "remote",
                                                "keyboard",      "cell phone",   "microwave",
                                                "oven",          "toaster",      "sink",
                                                "refrigerator",  "book",         "clock",
                                                "vase",          "scissors",     "teddy bear",
                                                "hair drier",    "toothbrush"};

bool is_camera(const std::string& source) {
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  return std::ranges::all_of(source, is_digit) || source.starts_with("/dev/video") ||
         source.find("://") != std::string::npos;
}

Yaml input_of(const FindRequest& request) {
  Yaml input;
  std::error_code ignored;
  const bool is_pictures =
      fs::is_directory(request.source, ignored) || application::is_image_name(request.source);
  input[is_camera(request.source) ? "camera" : is_pictures ? "images" : "video"] = request.source;
  if (request.frames > 0) input["frames"] = request.frames;
  return input;
}

/// Planes of numbers over the picture: rows and columns that are more than one cell.
bool is_map(const network::Shape& shape) {
  return shape.size() >= 3 && std::ranges::count_if(shape, [](auto size) { return size > 7; }) >= 2;
}

/// Boxes that Darknet's heads describe, or those of the common exporters.
Yaml boxes_of(const FindRequest& request, const Network& network) {
  using Kind = formats::darknet::Head::Kind;
  const formats::darknet::Heads known = known_heads(request.runnable.model.source);
  Yaml result;
  result["kind"] = known.heads.empty()                        ? "detect"
                   : known.heads.front().kind == Kind::region ? "region"
                                                              : "yolo";
  if (!known.heads.empty()) return result;
  if (!request.head.empty()) result["head"] = request.head;
  if (request.task == FindTask::segment) result["task"] = "segment";
  if (request.task == FindTask::pose) {
    constexpr std::array person{17, 3};  // COCO's keypoints
    result["task"] = "pose";
    if (application::metadata_value(network, "kpt_shape").empty()) result["keypoints"] = person;
  }
  return result;
}

Yaml text_of(const FindRequest& request, const Network& network) {
  Yaml result{{"kind", "text"}};
  if (!request.alphabet.empty()) {
    result["alphabet"] = request.alphabet;
    return result;
  }
  const std::string characters =
      application::metadata_value(network, "character");  // PaddleOCR's exports
  if (characters.empty())
    throw InputError(request.runnable.model.source.file,
                     "does not say its characters; give a file with one character per line with "
                     "⟨alphabet⟩");
  for (std::string_view rest = characters; !rest.empty();)
    result["alphabet"].push_back(std::string(take_line(rest)));
  return result;
}

Yaml postprocess_of(const FindRequest& request, const Network& network) {
  const network::Shape& shape = network[network.outputs.front()].shape;
  Yaml result;
  switch (request.task) {
    case FindTask::classify:
      return {{"kind", "top_k"}};
    case FindTask::read:
      return text_of(request, network);
    case FindTask::segment:
      if (network.outputs.size() == 1 && is_map(shape)) return {{"kind", "segmentation"}};
      result = boxes_of(request, network);
      break;
    case FindTask::pose:
      if (shape.size() == 4 || (network.outputs.size() == 2 && !is_map(shape)))
        return {{"kind", "keypoints"}};
      result = boxes_of(request, network);
      break;
    case FindTask::detect:
      result = boxes_of(request, network);
  }
  if (request.threshold) result["threshold"] = *request.threshold;
  return result;
}

/// Detectors that are known have their own; what a classifier was trained with most often, and
/// grey pictures for one channel.
Yaml preprocess_of(const FindRequest& request, const Network& network, const std::string& kind) {
  const network::Shape& shape = network[network.inputs.front()].shape;
  Yaml result;
  if (shape.size() == 4 && (shape[1] == 1 || shape[3] == 1)) {
    result["colours"] = "grey";
    return result;
  }
  const bool is_ultralytics = !application::metadata_value(network, "task").empty();
  const bool takes_colours = request.task == FindTask::classify || request.task == FindTask::pose ||
                             request.task == FindTask::segment;
  if (takes_colours && !is_ultralytics && kind != "detect") {
    result["mean"] = {0.485, 0.456, 0.406};  // ImageNet's
    result["deviation"] = {0.229, 0.224, 0.225};
  }
  if (kind == "text") result["mean"] = result["deviation"] = 0.5;
  if (kind == "yolo" || kind == "region") result["interpolation"] = "darknet";
  if (known_heads(request.runnable.model.source).letter_box) result["fit"] = "letterbox";
  return result;
}

Yaml output_of(const FindRequest& request, const std::string& kind) {
  const fs::path folder = request.folder;
  Yaml output{{"json", (folder / "findings.jsonl").string()}};
  const Yaml input = input_of(request);
  if (kind == "segmentation") output["maps"] = (folder / "maps").string();
  if (input.contains("images")) {
    output["images"] = folder.string();
  } else if (input.contains("video")) {
    output["video"] = (folder / fs::path(request.source).stem()).string() + ".avi";
  } else {
    output["video"] = (folder / "camera.mkv").string();
  }
  return output;
}

void check(const FindRequest& request, const Network& network) {
  const std::string& file = request.runnable.model.source.file;
  if (network.inputs.size() != 1)
    throw InputError(file, fmt::format("has {} inputs, and pictures need one; use `millrace run`",
                                       network.inputs.size()));
  if (network.outputs.empty()) throw InputError(file, "has no outputs");
  if (!request.alphabet.empty() && request.task != FindTask::read)
    throw InputError("⟨alphabet⟩", "is for 'read'; leave it out");
  const std::string made_for = application::metadata_value(network, "task");
  const std::string_view asked = task_words[static_cast<std::size_t>(request.task)];
  if (!made_for.empty() && made_for != asked && made_for != "obb" &&
      std::ranges::find(task_words, made_for) != task_words.end())
    throw InputError(
        file, fmt::format("says that it was made to {}; use `millrace {}`", made_for, made_for));
}

void add(std::string& text, std::string_view key, const Yaml& value) {
  if (!value.empty()) text += fmt::format("{}: {}\n", key, json_text(value, -1));
}

}  // namespace

std::string text_of_application(const FindRequest& request, const Network& network) {
  check(request, network);
  const formats::ModelSource& model = request.runnable.model.source;
  Yaml of_network{{"model", model.file}};
  if (!model.weights.empty()) of_network["weights"] = model.weights.string();
  if (model.size) of_network["size"] = *model.size;
  if (!model.shapes.empty()) of_network["shapes"] = Yaml::array({formats::shapes_text(model)});
  const Yaml after = postprocess_of(request, network);
  std::string text = "format: 1\n";
  add(text, "network", of_network);
  add(text, "input", input_of(request));
  add(text, "preprocess", preprocess_of(request, network, after["kind"]));
  add(text, "postprocess", after);
  if (request.labels == "coco")
    add(text, "labels", coco);
  else if (!request.labels.empty())
    add(text, "labels", request.labels);
  add(text, "output", output_of(request, after["kind"]));
  return text;
}

ApplicationTotals find(const FindRequest& request) {
  RunnableOptions runnable = request.runnable;
  const auto network =
      std::make_shared<const Network>(open_model(runnable.model.source, runnable.model.context));
  const std::string text = text_of_application(request, *network);
  if (!request.application.empty()) {
    FilesRead files;
    files.add(runnable);
    files.add_input(request.source);
    files.add("file of labels", request.labels);
    files.refuse(request.application);
    write_file(request.application, text);
    return {};
  }
  const std::string name = fs::path(runnable.model.source.file).stem().string() + ".yaml";
  auto memory = runnable.model.context.memory == nullptr
                    ? std::make_shared<InMemory>()
                    : std::make_shared<InMemory>(*runnable.model.context.memory);
  memory->applications[name] =
      std::make_shared<const application::Application>(application::parse_application(text, name));
  memory->models[memory->applications[name]->model.file] = network;
  runnable.model.context.memory = memory;
  formats::ModelSource only_name;
  only_name.file = name;
  only_name.seed = runnable.model.source.seed;
  runnable.model.source = only_name;
  std::error_code error, ignored;
  const bool is_new = fs::create_directories(request.folder, error);
  if (error || !fs::is_directory(request.folder))
    throw InputError(request.folder, "cannot be made as the folder of the results");
  ApplicationRun how;
  how.line = request.line;
  try {
    return run_application(runnable, {}, how);
  } catch (...) {
    if (is_new) fs::remove(request.folder, ignored);  // only if nothing is in it
    throw;
  }
}

}  // namespace millrace::product
