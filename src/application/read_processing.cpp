#include "application/read_processing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "application/words.h"
#include "base/file.h"
#include "base/utf8.h"
#include "board/read_values.h"

namespace millrace::application {
namespace {

using board::Bounds;
using board::read_count;
using board::read_number;
using board::read_word;

constexpr std::string_view image_keys[] = {"kind",   "fit",     "interpolation", "colours",
                                           "layout", "scale",   "mean",          "deviation",
                                           "fill",   "threads", "cores"};
constexpr std::string_view pixel_keys[] = {"fit",  "interpolation", "colours", "scale",
                                           "mean", "deviation",     "fill"};
constexpr std::string_view mapping_keys[] = {"plan",    "board",      "devices", "cut_points",
                                             "streams", "precisions", "slots",   "batch"};
constexpr std::size_t most_stages = 64;
constexpr std::string_view plugin_keys[] = {"kind", "parameters", "threads", "cores"};
constexpr std::string_view top_k_keys[] = {"kind", "top", "threads", "cores"};
constexpr std::string_view raw_keys[] = {"kind", "threads", "cores"};
constexpr std::string_view embedding_keys[] = {"kind", "normalise", "threads", "cores"};
constexpr std::string_view keypoints_keys[] = {"kind", "skeleton", "threads", "cores"};
constexpr std::string_view text_keys[] = {"kind", "alphabet", "blank", "threads", "cores"};
constexpr std::string_view blanks[] = {"first", "last"};
constexpr std::string_view anchor_keys[] = {"kind",  "threshold",      "suppression", "candidates",
                                            "heads", "class_agnostic", "threads",     "cores"};
constexpr std::string_view detect_keys[] = {
    "kind",           "head",      "task",     "threshold", "suppression", "candidates",
    "class_agnostic", "keypoints", "skeleton", "threads",   "cores"};
constexpr std::string_view tasks[] = {"detect", "segment", "pose", "obb"};
constexpr std::string_view head_keys[] = {"output", "anchors", "activated", "scale_x_y",
                                          "new_coords"};
constexpr std::string_view fits[] = {"stretch", "letterbox", "corner"};
constexpr std::string_view interpolations[] = {"linear", "area", "nearest", "darknet"};
constexpr std::string_view colours[] = {"rgb", "bgr", "grey"};
constexpr std::string_view layouts[] = {"nchw", "nhwc"};
constexpr int most_threads = 256;
constexpr std::size_t most_labels = 1'000'000;

Workers read_workers(const YamlView& view) {
  Workers workers;
  if (view.has("threads")) workers.threads = read_count(view.at("threads"), 1, most_threads);
  if (!view.has("cores")) return workers;
  workers.place = view.at("cores").place();
  for (const YamlView& core : view.at("cores").items())
    workers.cores.push_back(read_count(core, 0, board::largest_core));
  return workers;
}

std::map<std::string, std::string> read_parameters(const YamlView& view) {
  std::map<std::string, std::string> result;
  if (!view.has("parameters")) return result;
  const YamlView parameters = view.at("parameters");
  for (const std::string& key : parameters.keys()) result[key] = parameters.at(key).scalar();
  return result;
}

/// One for all channels, or one for each.
std::vector<double> read_per_channel(const YamlView& view, const Bounds& bounds) {
  if (view.is_scalar()) return std::vector<double>(3, read_number(view, bounds));
  std::vector<double> result;
  for (const YamlView& item : view.items()) result.push_back(read_number(item, bounds));
  if (result.size() == 1) result.resize(3, result.front());
  if (result.size() != 3)
    view.fail(fmt::format("found {} numbers, expected one for each of 3 channels", result.size()));
  return result;
}

template <class Word, std::size_t count>
void read_choice(const YamlView& view, std::string_view key, const std::string_view (&words)[count],
                 Word& word) {
  if (view.has(key)) word = static_cast<Word>(read_word(view.at(key), words));
}

ImageSettings read_image(const YamlView& view) {
  ImageSettings image;
  read_choice(view, "fit", fits, image.fit);
  read_choice(view, "interpolation", interpolations, image.interpolation);
  read_choice(view, "colours", colours, image.colours);
  if (view.has("layout")) image.layout = static_cast<Layout>(read_word(view.at("layout"), layouts));
  if (view.has("scale")) image.scale = read_number(view.at("scale"), {0, 1e6, true});
  if (view.has("mean")) image.mean = read_per_channel(view.at("mean"), {-1e6, 1e6});
  if (view.has("deviation"))
    image.deviation = read_per_channel(view.at("deviation"), {0, 1e6, true});
  if (view.has("fill")) image.fill = read_number(view.at("fill"), {0, 1});
  return image;
}

/// Where a step is not built in, its name may be wrong as well as its keys.
void check_plugin_keys(const YamlView& view, std::span<const std::string_view> own) {
  for (const std::string& key : view.keys())
    if (std::find(std::begin(plugin_keys), std::end(plugin_keys), key) == std::end(plugin_keys))
      view.at(key).fail(fmt::format(
          "'{}' is not built in, and a plug-in's step has the keys {}; put its own keys into "
          "'parameters', or use one of the built-in kinds {}",
          view.at("kind").text(), fmt::join(plugin_keys, ", "), fmt::join(own, ", ")));
}

std::string read_kind(const YamlView& view, std::span<const std::string_view> own,
                      std::string_view what) {
  const std::string kind = view.at("kind").text();
  const bool is_own = std::find(own.begin(), own.end(), kind) != own.end();
  if (is_built_in(kind) && !is_own)
    view.at("kind").fail(fmt::format("'{}' is no {}; expected one of {}, or a plug-in's", kind,
                                     what, fmt::join(own, ", ")));
  if (!is_own) check_plugin_keys(view, own);
  return kind;
}

HeadSettings read_head(const YamlView& view, const std::string& kind) {
  view.only(head_keys);
  HeadSettings head;
  using Kind = formats::darknet::Head::Kind;
  head.kind = kind == "region" ? Kind::region : Kind::yolo;
  if (view.has("output")) head.output = view.at("output").text();
  for (const YamlView& item : view.at("anchors").items()) {
    const std::vector<YamlView> numbers = item.items();
    if (numbers.size() != 2)
      item.fail(fmt::format("found {} numbers, expected a width and a height", numbers.size()));
    head.anchors.push_back(
        {read_number(numbers[0], {0, 1e6, true}), read_number(numbers[1], {0, 1e6, true})});
  }
  if (head.anchors.empty()) view.at("anchors").fail("found none, expected one for each box");
  if (view.has("activated")) head.activated = view.at("activated").boolean();
  if (view.has("scale_x_y")) head.scale_x_y = read_number(view.at("scale_x_y"), {0, 100, true});
  if (view.has("new_coords")) head.new_coords = view.at("new_coords").boolean();
  return head;
}

DetectionSettings read_detection(const YamlView& view, const std::string& kind) {
  DetectionSettings result;
  if (view.has("threshold")) result.threshold = read_number(view.at("threshold"), {0, 1});
  if (view.has("suppression")) result.suppression = read_number(view.at("suppression"), {0, 1});
  if (view.has("candidates")) result.candidates = read_count(view.at("candidates"), 1, 100'000);
  if (view.has("class_agnostic")) result.class_agnostic = view.at("class_agnostic").boolean();
  if (!view.has("heads")) return result;
  for (const YamlView& head : view.at("heads").items())
    result.heads.push_back(read_head(head, kind));
  return result;
}

/// How many keypoints an object has, and how many values each of them.
void read_keypoints(const YamlView& view, HeadFacts& facts) {
  const std::vector<YamlView> numbers = view.items();
  if (numbers.size() != 2)
    view.fail(
        fmt::format("found {} numbers, expected how many keypoints an object has and how "
                    "many values each of them, such as [17, 3]",
                    numbers.size()));
  facts.keypoints = read_count(numbers[0], 1, 10'000);
  facts.keypoint_values = read_count(numbers[1], 2, 3);
}

Skeleton read_skeleton(const YamlView& view) {
  Skeleton skeleton;
  for (const YamlView& item : view.items()) {
    const std::vector<YamlView> ends = item.items();
    if (ends.size() != 2)
      item.fail(fmt::format("found {} numbers, expected the two keypoints that a line joins",
                            ends.size()));
    const auto end = [&](std::size_t i) {
      return static_cast<std::size_t>(read_count(ends[i], 0, 10'000));
    };
    skeleton.emplace_back(end(0), end(1));
  }
  return skeleton;
}

DetectionSettings read_detect(const YamlView& view) {
  DetectionSettings result = read_detection(view, "detect");
  if (view.has("head")) result.head = view.at("head").text();
  if (view.has("task")) result.facts.task = tasks[read_word(view.at("task"), tasks)];
  if (view.has("keypoints")) read_keypoints(view.at("keypoints"), result.facts);
  if (view.has("skeleton")) result.skeleton = read_skeleton(view.at("skeleton"));
  return result;
}

/// What the kind says, without what all have.
void read_own(const YamlView& view, Postprocess& result) {
  if (result.kind == "top_k") {
    view.only(top_k_keys);
    if (view.has("top")) result.top = read_count(view.at("top"), 1, 1'000'000);
  } else if (result.kind == "raw" || result.kind == "segmentation") {
    view.only(raw_keys);
  } else if (result.kind == "yolo" || result.kind == "region") {
    view.only(anchor_keys);
    result.detection = read_detection(view, result.kind);
  } else if (result.kind == "detect") {
    view.only(detect_keys);
    result.detection = read_detect(view);
  } else if (result.kind == "keypoints") {
    view.only(keypoints_keys);
    if (view.has("skeleton")) result.detection.skeleton = read_skeleton(view.at("skeleton"));
  } else if (result.kind == "embedding") {
    view.only(embedding_keys);
    if (view.has("normalise")) result.normalise = view.at("normalise").boolean();
  } else if (result.kind == "text") {
    view.only(text_keys);
    if (view.has("blank")) result.blank_is_last = read_word(view.at("blank"), blanks) == 1;
  } else {
    result.parameters = read_parameters(view);
  }
}

std::string read_utf8(const YamlView& view, const std::string& path) {
  const std::string text(without_byte_order_mark(read_file(path)));
  if (!is_utf8(text) || text.find('\0') != std::string::npos)
    view.fail(fmt::format("'{}' is no UTF-8 text; save it in UTF-8", path));
  return text;
}

std::vector<std::string> read_lines(const YamlView& view) {
  if (!view.is_scalar()) return board::read_texts(view);
  const std::string path = view.path();
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    view.fail(fmt::format("'{}' is no file, expected one with a label per line", path));
  const std::string text = read_utf8(view, path);
  std::vector<std::string> labels;
  for (std::string_view rest = text; !rest.empty();) {
    labels.emplace_back(take_line(rest));
    if (labels.size() > most_labels)
      view.fail(fmt::format("has more than {} lines, expected one label per line", most_labels));
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  if (labels.empty()) view.fail("the file is empty, expected one label per line");
  return labels;
}

}  // namespace

std::vector<std::string> read_labels(const YamlView& view) {
  std::vector<std::string> labels = read_lines(view);
  if (!view.is_scalar()) return labels;
  while (!labels.empty() && labels.back().find_first_not_of(" \t") == std::string::npos)
    labels.pop_back();
  if (labels.empty()) view.fail("the file is empty, expected one label per line");
  return labels;
}

void read_alphabet(const YamlView& view, Postprocess& text) {
  text.alphabet = read_lines(view);
  if (view.is_scalar()) text.alphabet_file = view.path();
}

Preprocess read_preprocess(const YamlView& view) {
  constexpr std::array<std::string_view, 1> own{"image"};
  Preprocess result;
  if (view.has("kind")) result.kind = read_kind(view, own, "pre-processing");
  if (result.kind == "image") {
    view.only(image_keys);
    result.image = read_image(view);
    const auto is_said = [&](std::string_view key) { return view.has(key); };
    result.as_trained = std::ranges::none_of(pixel_keys, is_said);
  } else {
    result.parameters = read_parameters(view);
  }
  result.workers = read_workers(view);
  result.place = view.place();
  return result;
}

Postprocess read_postprocess(const YamlView& view) {
  constexpr std::array<std::string_view, 9> own{
      "top_k", "detect", "yolo", "region", "segmentation", "keypoints", "embedding", "text", "raw"};
  Postprocess result;
  result.kind = read_kind(view, own, "post-processing");
  result.place = view.place();
  read_own(view, result);
  result.workers = read_workers(view);
  return result;
}

ByHand read_mapping(const YamlView& view) {
  view.only(mapping_keys);
  ByHand mapping;
  mapping.place = view.place();
  if (view.has("plan")) {
    if (view.keys().size() > 1)
      view.fail("names a plan, which says everything; leave out the other keys");
    mapping.plan = view.at("plan").text();
    return mapping;
  }
  mapping.devices = board::read_texts(view.at("devices"));
  if (mapping.devices.empty() || mapping.devices.size() > most_stages)
    view.at("devices").fail(fmt::format("found {}, expected 1 to {}: one for each stage",
                                        mapping.devices.size(), most_stages));
  if (view.has("board")) mapping.board = view.at("board").text();
  if (view.has("cut_points"))
    for (const YamlView& cut : view.at("cut_points").items())
      mapping.cut_points.push_back(cut.scalar());
  if (view.has("streams"))
    for (const YamlView& each : view.at("streams").items())
      mapping.streams.push_back(read_count(each, 1, 64));
  if (view.has("precisions"))
    for (const YamlView& each : view.at("precisions").items())
      mapping.precisions.push_back(board::read_precision(each));
  if (view.has("slots")) mapping.slots = read_count(view.at("slots"), 1, 1024);
  if (view.has("batch") && read_count(view.at("batch"), 1, 4096) > 1)
    view.at("batch").fail(
        "stages that are written down work on one frame at once; leave it out and "
        "use `millrace plan ⟨max_latency⟩`, which batches frames where that helps");
  return mapping;
}

}  // namespace millrace::application
