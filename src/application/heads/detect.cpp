#include "application/heads/detect.h"

#include <algorithm>

#include "application/heads/as_float.h"
#include "application/heads/head.h"
#include "application/heads/keypoints.h"
#include "application/heads/masks.h"
#include "application/heads/metadata.h"
#include "application/preprocess.h"

namespace millrace::application {
namespace {

class DetectByHead : public Processing {
 public:
  DetectByHead(const Application& application, const Size& input, const Recognised& head)
      : settings_(application.postprocess.detection),
        input_(input),
        head_(*head.head),
        layout_(head.layout) {
    if (application.preprocess.kind == "image") fit_ = application.preprocess.image.fit;
    skeleton_ = skeleton_of(settings_, layout_.keypoints);
  }

  Findings after(const Picture& picture, std::span<const network::Array> outputs) const override {
    const std::vector<network::Array> frame = floats(outputs);
    MostProbable found(settings_.threshold, settings_.candidates);
    head_.decode(layout_, frame, input_, found);
    MostProbable::Result best = found.take();
    Findings findings;
    findings.left_out = best.left_out;
    const double overlap = head_.suppresses ? settings_.suppression : 1;  // more than all: none
    const auto candidates =
        suppress(std::move(best.candidates), {overlap, settings_.class_agnostic, input_});
    const Size size =
        picture.image.empty() ? input_ : Size{picture.image.width, picture.image.height};
    const View view{input_, place(size, input_, fit_), size};
    findings.detections.emplace();
    for (const Candidate& candidate : candidates)
      if (const Detection box = view.detection(candidate); has_area(box))
        findings.detections->push_back(with_parts(box, candidate, frame, view));
    findings.skeleton = skeleton_;
    return findings;
  }

 private:
  /// The outputs; those that the head reads are float32 then.
  std::vector<network::Array> floats(std::span<const network::Array> outputs) const {
    std::vector<network::Array> result(outputs.begin(), outputs.end());
    for (const std::size_t i : layout_.outputs) result[i] = as_float(result[i]);
    if (layout_.prototypes) result[*layout_.prototypes] = as_float(result[*layout_.prototypes]);
    return result;
  }

  /// `result`: the box in the picture.
  Detection with_parts(Detection result, const Candidate& box,
                       const std::vector<network::Array>& frame, const View& view) const {
    result.keypoints = keypoints(box, frame);
    for (Keypoint& keypoint : result.keypoints) keypoint.at = view.to_picture(keypoint.at);
    if (!layout_.prototypes) return result;
    const Table table = table_of(frame[layout_.outputs.front()], layout_.columns_first);
    std::vector<float> coefficients;
    for (std::int64_t i = 0; i < layout_.coefficients; ++i)
      coefficients.push_back(static_cast<float>(table.at(box.row, layout_.extras + i)));
    result.mask = mask_of(result, coefficients, frame[*layout_.prototypes], view);
    return result;
  }

  /// In shares of the input.
  std::vector<Keypoint> keypoints(const Candidate& box, Frame frame) const {
    if (head_.keypoints != nullptr) return head_.keypoints(layout_, frame, input_, box.row);
    std::vector<Keypoint> result;
    const Table table = table_of(frame[layout_.outputs.front()], layout_.columns_first);
    const auto wide = static_cast<double>(input_.width), high = static_cast<double>(input_.height);
    for (std::int64_t i = 0; i < layout_.keypoints; ++i) {
      const std::int64_t column = layout_.extras + i * layout_.keypoint_values;
      const bool has_probability = layout_.keypoint_values > 2;
      result.push_back({{table.at(box.row, column) / wide, table.at(box.row, column + 1) / high},
                        has_probability ? table.at(box.row, column + 2) : 1});
    }
    return result;
  }

  DetectionSettings settings_;
  Size input_;
  const Head& head_;
  BoxLayout layout_;
  Fit fit_ = Fit::stretch;
  Skeleton skeleton_;
};

Outputs outputs_of(const Application& application, const network::Network& network) {
  Outputs outputs;
  outputs.input = input_size(network, application.preprocess.image, application.postprocess.place);
  outputs.facts = facts_of(application, network);
  for (const TensorId id : network.outputs)
    outputs.list.push_back({network[id].name, network[id].shape});
  return outputs;
}

/// In whichever order of dimensions.
bool reads_one_picture(const network::Network& network) {
  using network::DataType;
  if (network.inputs.size() != 1) return false;
  const network::Tensor& input = network[network.inputs[0]];
  const network::Shape& shape = input.shape;
  return (input.type == DataType::float32 || input.type == DataType::float16) &&
         shape.size() == 4 && shape[0] == 1 && (shape[1] == 3 || shape[3] == 3);
}

}  // namespace

std::vector<std::unique_ptr<Processing>> detectors(const Application& application,
                                                   const network::Network& network) {
  std::vector<std::unique_ptr<Processing>> result;
  if (!reads_one_picture(network)) return result;
  const Outputs outputs = outputs_of(application, network);
  for (const Recognised& head : best_fits(outputs))
    result.push_back(std::make_unique<DetectByHead>(application, outputs.input, head));
  return result;
}

std::string_view head_of(const Application& application, const network::Network& network) {
  const Postprocess& wanted = application.postprocess;
  return recognise(outputs_of(application, network), wanted.detection.head, wanted.place)
      .head->name;
}

std::unique_ptr<Processing> make_detect(const Application& application,
                                        const network::Network& network) {
  const Postprocess& wanted = application.postprocess;
  const Outputs outputs = outputs_of(application, network);
  const Recognised head = recognise(outputs, wanted.detection.head, wanted.place);
  if (head.layout.classes > 0) check_labels(application, head.layout.classes);
  return std::make_unique<DetectByHead>(application, outputs.input, head);
}

}  // namespace millrace::application
