#include "formats/zoo.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "formats/zoo/architectures.h"

namespace millrace::formats {
namespace {

struct Exhibit {
  ZooEntry entry;
  std::string (*build)(zoo::Builder&, const zoo::Value&);
};

constexpr std::array<std::int64_t, 4> imagenet{1, 3, 224, 224};
constexpr std::int64_t coarsest_cell = 32;  // pixels of a detector's input
constexpr std::int64_t largest_input = 8192;
constexpr std::array<std::int64_t, 4> detector{1, 3, 416, 416};

constexpr std::array<Exhibit, 21> exhibits{{
    {{"bvlc_alexnet", imagenet, 8, 654560384, 60965224,
      "Krizhevsky et al. 2012, two groups, as in Caffe and the ONNX model zoo"},
     zoo::bvlc_alexnet},
    {{"vgg_19", imagenet, 19, 19632062464, 143667240,
      "Simonyan and Zisserman 2014, configuration E"},
     zoo::vgg_19},
    {{"bvlc_googlenet", imagenet, 58, 1582671872, 6998552, "Szegedy et al. 2014, as in Caffe"},
     zoo::bvlc_googlenet},
    {{"inception_v1", imagenet, 58, 1431556352, 6998552,
      "Szegedy et al. 2014, as in the ONNX model zoo: pools round down"},
     zoo::inception_v1},
    {{"resnet18", imagenet, 21, 1814073344, 11689512, "He et al. 2015, as in torchvision"},
     zoo::resnet18},
    {{"resnet50", imagenet, 54, 4089184256, 25557032,
      "He et al. 2015, as in torchvision: stride in the 3x3 convolutions"},
     zoo::resnet50},
    {{"emotion_ferplus", {1, 1, 64, 64}, 13, 875831296, 8757704, "Barsoum et al. 2016, VGG13"},
     zoo::emotion_ferplus},
    {{"densenet121", imagenet, 121, 2834161664, 7978856, "Huang et al. 2016"}, zoo::densenet121},
    {{"squeezenet1_1", imagenet, 26, 349151936, 1235496, "Iandola et al. 2016, version 1.1"},
     zoo::squeezenet1_1},
    {{"tiny_yolo_v2",
      {1, 3, 416, 416},
      9,
      3485520896,
      15861773,
      "Redmon and Farhadi 2016, Darknet's yolov2-tiny-voc"},
     zoo::tiny_yolo_v2},
    {{"mobilenet_v1", imagenet, 28, 568740352, 4231976, "Howard et al. 2017, width 1.0"},
     zoo::mobilenet_v1},
    {{"mobilenet_v2", imagenet, 53, 300774272, 3504872, "Sandler et al. 2018, width 1.0"},
     zoo::mobilenet_v2},
    {{"yolov2", detector, 23, 14732084224, 50962889, "Redmon and Farhadi 2016, trained on COCO"},
     zoo::yolov2},
    {{"yolov2_tiny", detector, 9, 2703221248, 11232057, "Darknet's yolov2-tiny, trained on COCO"},
     zoo::yolov2_tiny},
    {{"yolov3", detector, 75, 32932037632, 61949149, "Redmon and Farhadi 2018"}, zoo::yolov3},
    {{"yolov3_tiny", detector, 13, 2782480896, 8852366, "Darknet's yolov3-tiny"}, zoo::yolov3_tiny},
    {{"csresnext50_panet", detector, 97, 23531635712, 56942525,
      "Wang et al. 2019 (CSPNet), Darknet's csresnext50-panet-spp"},
     zoo::csresnext50_panet},
    {{"densenet201_yolo", detector, 203, 15945552896, 26778429, "Darknet's densenet201_yolo"},
     zoo::densenet201_yolo},
    {{"yolov4", detector, 110, 30052385792, 64363101, "Bochkovskiy et al. 2020"}, zoo::yolov4},
    {{"yolov4_tiny", detector, 21, 3453938176, 6056606, "Wang et al. 2020 (Scaled-YOLOv4)"},
     zoo::yolov4_tiny},
    {{"yolov4_csp", detector, 115, 25400640512, 52921437, "Wang et al. 2020 (Scaled-YOLOv4)"},
     zoo::yolov4_csp},
}};

/// Shape of the input; in another size than the entry's, if one is asked for.
Shape input_shape(const ZooEntry& entry, std::optional<std::int64_t> size) {
  Shape shape(entry.input.begin(), entry.input.end());
  if (!size) return shape;
  const bool any_size = entry.input == detector && entry.name != "tiny_yolo_v2";
  if (!any_size)
    throw InputError("⟨size⟩",
                     fmt::format("{} has an input of {} only; the networks from yolov2 on "
                                 "take other sizes",
                                 entry.name, to_text(shape)));
  if (*size % coarsest_cell != 0 || *size < coarsest_cell || *size > largest_input)
    throw InputError("⟨size⟩", fmt::format("found {}, expected a multiple of {} up to {}", *size,
                                           coarsest_cell, largest_input));
  shape[2] = shape[3] = *size;
  return shape;
}

const Exhibit& find(std::string_view name) {
  const auto name_of = [](const Exhibit& exhibit) { return exhibit.entry.name; };
  const auto found = std::ranges::find(exhibits, name, name_of);
  if (found != exhibits.end()) return *found;
  std::vector<std::string_view> known;
  for (const Exhibit& exhibit : exhibits) known.push_back(exhibit.entry.name);
  const std::string near = did_you_mean(name, known);
  throw InputError({}, fmt::format("the zoo has no network '{}'{} `millrace zoo` lists them", name,
                                   near.empty() ? ";" : near));
}

}  // namespace

std::vector<ZooEntry> zoo_entries() {
  std::vector<ZooEntry> entries;
  for (const Exhibit& exhibit : exhibits) entries.push_back(exhibit.entry);
  return entries;
}

std::vector<std::string> zoo_names() {
  std::vector<std::string> names;
  for (const Exhibit& exhibit : exhibits) names.emplace_back(exhibit.entry.name);
  return names;
}

std::string zoo_model(std::string_view name, std::uint64_t seed, std::optional<std::int64_t> size) {
  const Exhibit& exhibit = find(name);
  zoo::Builder net(std::string(name), seed);
  const zoo::Value image = net.input(input_shape(exhibit.entry, size));
  return exhibit.build(net, image);
}

}  // namespace millrace::formats
