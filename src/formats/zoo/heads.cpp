#include <algorithm>
#include <array>
#include <span>

#include "formats/zoo_heads.h"

namespace millrace::formats {
namespace {

using darknet::Anchor;
using darknet::Head;

constexpr std::int64_t coco = 80, voc = 20;

// In pixels of the input.
constexpr std::array<Anchor, 6> tiny{
    {{10, 14}, {23, 27}, {37, 58}, {81, 82}, {135, 169}, {344, 319}}};
constexpr std::array<Anchor, 9> third{{{10, 13},
                                       {16, 30},
                                       {33, 23},
                                       {30, 61},
                                       {62, 45},
                                       {59, 119},
                                       {116, 90},
                                       {156, 198},
                                       {373, 326}}};
constexpr std::array<Anchor, 9> fourth{{{12, 16},
                                        {19, 36},
                                        {40, 28},
                                        {36, 75},
                                        {76, 55},
                                        {72, 146},
                                        {142, 110},
                                        {192, 243},
                                        {459, 401}}};
// In cells.
constexpr std::array<Anchor, 5> second_coco{{{0.57273, 0.677385},
                                             {1.87446, 2.06253},
                                             {3.33843, 5.47434},
                                             {7.88282, 3.52778},
                                             {9.77052, 9.16828}}};
constexpr std::array<Anchor, 5> second_voc{{{1.3221, 1.73145},
                                            {3.19275, 4.00944},
                                            {5.05587, 8.09892},
                                            {9.47112, 4.84053},
                                            {11.2364, 10.0071}}};
constexpr std::array<Anchor, 5> second_tiny_voc{
    {{1.08, 1.19}, {3.42, 4.41}, {6.63, 11.38}, {9.42, 5.11}, {16.62, 10.52}}};

struct Output {
  std::size_t first;  // of its three anchors
  double scale = 1;
};

struct Entry {
  std::string_view name;
  std::span<const Anchor> anchors;
  std::array<Output, 3> outputs;
  std::size_t count;  // of the outputs
  bool new_coords = false;
};

constexpr std::array<Entry, 6> yolos{{
    {"yolov3", third, {{{6}, {3}, {0}}}, 3},
    {"yolov3_tiny", tiny, {{{3}, {0}, {0}}}, 2},
    {"csresnext50_panet", third, {{{0}, {3}, {6}}}, 3},
    {"yolov4", fourth, {{{0, 1.2}, {3, 1.1}, {6, 1.05}}}, 3},
    {"yolov4_tiny", tiny, {{{3, 1.05}, {1, 1.05}, {0}}}, 2},
    {"yolov4_csp", fourth, {{{0, 2}, {3, 2}, {6, 2}}}, 3, true},
}};

struct Region {
  std::string_view name;
  std::span<const Anchor> anchors;
  std::int64_t classes;
  bool activated = true;
};

constexpr std::array<Region, 4> regions{{
    {"tiny_yolo_v2", second_tiny_voc, voc, false},
    {"yolov2", second_coco, coco},
    {"yolov2_tiny", second_coco, coco},
    {"densenet201_yolo", second_voc, voc},
}};

std::vector<Anchor> list(std::span<const Anchor> anchors) {
  return {anchors.begin(), anchors.end()};
}

Head head_of(const Entry& entry, const Output& output) {
  Head head;
  head.boxes = 3;
  head.classes = coco;
  head.anchors = list(entry.anchors.subspan(output.first, 3));
  head.scale_x_y = output.scale;
  head.new_coords = entry.new_coords;
  return head;
}

Head head_of(const Region& region) {
  Head head;
  head.kind = Head::Kind::region;
  head.boxes = 5;
  head.classes = region.classes;
  head.anchors = list(region.anchors);
  head.softmax = true;
  head.activated = region.activated;
  return head;
}

}  // namespace

darknet::Heads zoo_heads(std::string_view name) {
  darknet::Heads heads;
  const auto yolo = std::ranges::find(yolos, name, &Entry::name);
  if (yolo != yolos.end())
    for (std::size_t i = 0; i < yolo->count; ++i)
      heads.heads.push_back(head_of(*yolo, yolo->outputs[i]));
  const auto region = std::ranges::find(regions, name, &Region::name);
  if (region != regions.end()) heads.heads.push_back(head_of(*region));
  return heads;
}

}  // namespace millrace::formats
