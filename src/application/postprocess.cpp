#include "application/postprocess.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "application/heads/as_float.h"
#include "application/heads/detect.h"
#include "application/heads/embedding.h"
#include "application/heads/keypoints.h"
#include "application/heads/metadata.h"
#include "application/heads/segmentation.h"
#include "application/heads/text.h"
#include "application/preprocess.h"
#include "base/error.h"
#include "base/json_text.h"

namespace millrace::application {
namespace {

using network::DataType;

class TopK : public Processing {
 public:
  explicit TopK(std::int64_t count) : count_(static_cast<std::size_t>(count)) {}

  Findings after(const Picture&, std::span<const network::Array> outputs) const override {
    const network::Array real = as_float(outputs.front());
    const auto values = real.values<float>();
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto is_nan = [](float value) { return value != value; };
    const auto larger = [&](std::size_t a, std::size_t b) {  // what is not a number comes last
      if (is_nan(values[a]) || is_nan(values[b])) return !is_nan(values[a]) && is_nan(values[b]);
      return values[a] != values[b] ? values[a] > values[b] : a < b;
    };
    const std::size_t count = std::min(count_, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count),
                      order.end(), larger);
    Findings findings;
    findings.classes.emplace();
    for (std::size_t i = 0; i < count; ++i)
      findings.classes->push_back({static_cast<std::int64_t>(order[i]), values[order[i]]});
    return findings;
  }

 private:
  std::size_t count_;
};

class DetectByAnchors : public Processing {
 public:
  struct Target {
    HeadSettings head;
    std::size_t output = 0;  // which of the network's
  };
  DetectByAnchors(const DetectionSettings& settings, std::vector<Target> targets, const Size& input)
      : settings_(settings), targets_(std::move(targets)), input_(input) {}
  void set_fit(Fit fit) { fit_ = fit; }

  Findings after(const Picture& picture, std::span<const network::Array> outputs) const override {
    MostProbable found(settings_.threshold, settings_.candidates);
    for (const Target& target : targets_)
      decode(target.head, outputs[target.output], input_, found);
    MostProbable::Result best = found.take();
    Findings findings;
    findings.left_out = best.left_out;
    const auto candidates = suppress(std::move(best.candidates),
                                     {settings_.suppression, settings_.class_agnostic, input_});
    const Size size =
        picture.image.empty() ? input_ : Size{picture.image.width, picture.image.height};
    findings.detections = to_picture(candidates, input_, place(size, input_, fit_), size);
    return findings;
  }

 private:
  DetectionSettings settings_;
  std::vector<Target> targets_;
  Size input_;
  Fit fit_ = Fit::stretch;
};

template <class T>
nlohmann::json numbers_json(const network::Array& array) {
  nlohmann::json numbers = nlohmann::json::array();
  for (const T value : array.values<T>())
    if constexpr (std::is_same_v<T, float>)
      numbers.push_back(shortest(value));
    else
      numbers.push_back(value);
  return numbers;
}

nlohmann::json values_json(const network::Array& array) {
  switch (array.type) {
    case DataType::int64:
      return numbers_json<std::int64_t>(array);
    case DataType::int32:
      return numbers_json<std::int32_t>(array);
    case DataType::boolean:
    case DataType::uint8:
      return numbers_json<std::uint8_t>(array);
    case DataType::int8:
      return numbers_json<std::int8_t>(array);
    default:
      return numbers_json<float>(as_float(array));
  }
}

/// All values of all outputs.
class Raw : public Processing {
 public:
  explicit Raw(const network::Network& network) {
    for (const TensorId id : network.outputs) names_.push_back(network[id].name);
  }
  Findings after(const Picture&, std::span<const network::Array> outputs) const override {
    nlohmann::json all = nlohmann::json::object();
    for (std::size_t i = 0; i < outputs.size(); ++i)
      all[names_[i]] = {{"shape", outputs[i].shape}, {"values", values_json(outputs[i])}};
    Findings findings;
    findings.json = json_text(all, -1);
    return findings;
  }

 private:
  std::vector<std::string> names_;
};

std::size_t output_named(const network::Network& network, const HeadSettings& head,
                         std::size_t number, const std::string& place) {
  if (head.output.empty()) {
    if (number < network.outputs.size()) return number;
    throw InputError(place, fmt::format("there are more heads than the {} outputs of '{}'",
                                        network.outputs.size(), network.name));
  }
  std::string known;
  for (std::size_t i = 0; i < network.outputs.size(); ++i) {
    const std::string& name = network[network.outputs[i]].name;
    if (name == head.output) return i;
    known += (known.empty() ? "'" : ", '") + name + "'";
  }
  throw InputError(place, fmt::format("the network '{}' has no output '{}'; its outputs are {}",
                                      network.name, head.output, known));
}

std::unique_ptr<Processing> make_yolo(const Application& application,
                                      const network::Network& network) {
  const Postprocess& wanted = application.postprocess;
  if (wanted.detection.heads.empty())
    throw InputError(
        wanted.place,
        fmt::format("'{}' has no 'heads', and '{}' says nothing of them (only "
                    "Darknet configurations and the zoo do); give the anchors of each output, or "
                    "use 'detect'",
                    wanted.kind, network.name));
  std::vector<DetectByAnchors::Target> targets;
  for (std::size_t i = 0; i < wanted.detection.heads.size(); ++i) {
    const HeadSettings& head = wanted.detection.heads[i];
    const std::size_t output = output_named(network, head, i, wanted.place);
    check_labels(application, check_head(head, network[network.outputs[output]], wanted.place));
    targets.push_back({head, output});
  }
  const ImageSettings& image = application.preprocess.image;
  auto detect = std::make_unique<DetectByAnchors>(wanted.detection, std::move(targets),
                                                  input_size(network, image, wanted.place));
  if (application.preprocess.kind == "image") detect->set_fit(image.fit);
  return detect;
}

std::unique_ptr<Processing> make_top_k(const Application& application,
                                       const network::Network& network) {
  const std::string& place = application.postprocess.place;
  if (network.outputs.empty()) throw InputError(place, "the network has no outputs");
  const network::Tensor& output = network[network.outputs.front()];
  const bool is_row = std::count_if(output.shape.begin(), output.shape.end(),
                                    [](std::int64_t size) { return size != 1; }) <= 1;
  const bool is_real = output.type == DataType::float32 || output.type == DataType::float16;
  if (!is_row || !is_real)
    throw InputError(
        place,
        fmt::format("top_k needs one value per class, but the first output '{}' is "
                    "{} {}; use detect, segmentation, text or raw",
                    output.name, network::to_text(output.type), network::to_text(output.shape)));
  check_labels(application, network::element_count(output.shape));
  return std::make_unique<TopK>(application.postprocess.top);
}

}  // namespace

std::vector<HeadSettings> heads_of(const formats::darknet::Heads& heads, const std::string& kind,
                                   const std::string& place) {
  using Kind = formats::darknet::Head::Kind;
  const Kind wanted = kind == "region" ? Kind::region : Kind::yolo;
  std::vector<HeadSettings> result;
  for (const formats::darknet::Head& head : heads.heads)
    if (head.kind == wanted)
      result.push_back(
          {wanted, head.output, head.anchors, head.activated, head.scale_x_y, head.new_coords});
  if (result.empty())
    throw InputError(
        place,
        fmt::format("the network has no head of the kind [{}], which the post-processing '{}' "
                    "decodes; use the kind that it has, or raw",
                    kind, kind));
  return result;
}

std::unique_ptr<Processing> make_postprocessing(const Application& application,
                                                const network::Network& network,
                                                const Registry& registry) {
  const Postprocess& wanted = application.postprocess;
  if (wanted.kind == "top_k") return make_top_k(application, network);
  if (wanted.kind == "raw") return std::make_unique<Raw>(network);
  if (wanted.kind == "yolo" || wanted.kind == "region") return make_yolo(application, network);
  if (wanted.kind == "detect") return make_detect(application, network);
  if (wanted.kind == "segmentation") return make_segmentation(application, network);
  if (wanted.kind == "keypoints") return make_keypoints(application, network);
  if (wanted.kind == "embedding") return make_embedding(application, network);
  if (wanted.kind == "text") return make_text(application, network);
  return registry.make(wanted.kind, {network, wanted.parameters, application.labels}, wanted.place);
}

}  // namespace millrace::application
