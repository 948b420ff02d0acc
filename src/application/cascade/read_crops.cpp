#include "application/cascade/read_crops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "application/read_processing.h"
#include "application/words.h"
#include "board/read_values.h"

namespace millrace::application {
namespace {

constexpr std::string_view crops_keys[] = {"at_most",     "batch",  "margin", "classes",
                                           "network",     "preprocess", "postprocess", "labels",
                                           "plan",        "processor"};
constexpr std::string_view crop_network_keys[] = {"model", "weights", "size", "shapes", "fix"};
constexpr std::array<std::string_view, 3> kinds_with_boxes{"detect", "yolo", "region"};
constexpr std::array<std::string_view, 5> kinds_of_crops{"top_k", "keypoints", "embedding", "text",
                                                         "raw"};
constexpr int most_crops = 1000;

bool holds(std::span<const std::string_view> kinds, std::string_view kind) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

void check_boxes(const YamlView& view, const Application& application) {
  const std::string& kind = application.postprocess.kind;
  if (is_built_in(kind) && !holds(kinds_with_boxes, kind))
    view.fail(fmt::format("the post-processing '{}' finds no boxes, which crops need; use {}, or a "
                          "plug-in's that gives detections",
                          kind, fmt::join(kinds_with_boxes, ", ")));
  if (application.input.kind == InputKind::arrays)
    view.fail("the input is arrays, and crops are cut from pictures; give 'images', 'video' or "
              "'camera'");
}

void refuse_workers(const YamlView& view) {
  for (const char* key : {"threads", "cores"})
    if (view.has(key))
      view.at(key).fail("is not for crops: the threads of the application's 'postprocess' cut and "
                        "prepare them; set it there");
}

void read_bounds(const YamlView& view, Crops& crops) {
  if (!view.has("at_most"))
    view.fail("has no 'at_most': the number of crops of a picture needs a bound, which bounds the "
              "time of a frame too; add it, such as at_most: 8");
  crops.most = board::read_count(view.at("at_most"), 1, most_crops);
  if (!view.has("batch")) return;
  crops.batch = board::read_count(view.at("batch"), 1, most_crops);
  crops.batch_place = view.at("batch").place();
  if (crops.batch > crops.most)
    view.at("batch").fail(fmt::format("found {}, and 'at_most' is {}; a batch has at most as many "
                                      "crops as a picture",
                                      crops.batch, crops.most));
}

void read_where(const YamlView& view, Crops& crops) {
  if (view.has("plan") && view.has("processor"))
    view.at("processor").fail("found beside 'plan', which says it; remove one of the two");
  if (view.has("plan") && view.has("batch"))
    view.at("batch").fail("found beside 'plan', which is for the network as it is; give the batch "
                          "as the first dimension in 'shapes', and make the plan of that network");
  if (view.has("plan")) crops.plan = view.at("plan").path();
  if (!view.has("processor")) return;
  crops.processor = view.at("processor").text();
  crops.processor_place = view.at("processor").place();
}

}  // namespace

Crops read_crops(const YamlView& view, const Application& application) {
  view.only(crops_keys);
  Crops crops;
  crops.place = view.place();
  check_boxes(view, application);
  read_bounds(view, crops);
  if (view.has("margin")) crops.margin = board::read_number(view.at("margin"), {0, 10});
  if (view.has("classes")) {
    for (const YamlView& item : view.at("classes").items()) crops.classes.push_back(item.scalar());
    crops.classes_place = view.at("classes").place();
    if (crops.classes.empty()) view.at("classes").fail("found none; leave it out for all");
  }
  view.at("network").only(crop_network_keys);
  crops.model = formats::read_model_source(view.at("network"));
  crops.preprocess.place = view.place();
  crops.preprocess.as_trained = true;
  if (view.has("preprocess")) {
    refuse_workers(view.at("preprocess"));
    crops.preprocess = read_preprocess(view.at("preprocess"));
  }
  crops.postprocess = read_postprocess(view.at("postprocess"));
  const std::string& kind = crops.postprocess.kind;
  if (is_built_in(kind) && !holds(kinds_of_crops, kind))
    view.at("postprocess").at("kind").fail(fmt::format(
        "'{}' is not for crops; use {}, or a plug-in's", kind, fmt::join(kinds_of_crops, ", ")));
  if (kind == "text") read_alphabet(view.at("postprocess").at("alphabet"), crops.postprocess);
  if (view.has("labels")) {
    crops.labels = read_labels(view.at("labels"));
    if (view.at("labels").is_scalar()) crops.labels_file = view.at("labels").path();
  }
  read_where(view, crops);
  return crops;
}

}  // namespace millrace::application
