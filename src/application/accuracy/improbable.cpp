#include "application/accuracy/improbable.h"

#include <algorithm>

#include "application/postprocess.h"

namespace millrace::application {
namespace {

constexpr double least_probability = 0.001;

class WithImprobable : public Processing {
 public:
  WithImprobable(std::unique_ptr<Processing> usual, std::unique_ptr<Processing> all)
      : usual_(std::move(usual)), all_(std::move(all)) {}

  Findings after(const Picture& picture, std::span<const network::Array> outputs) const override {
    Findings findings = usual_->after(picture, outputs);
    findings.improbable = all_->after(picture, outputs).detections;
    return findings;
  }

 private:
  std::unique_ptr<Processing> usual_, all_;
};

}  // namespace

std::unique_ptr<Processing> make_with_improbable(const Application& application,
                                                 const network::Network& network,
                                                 const Registry& registry) {
  auto usual = make_postprocessing(application, network, registry);
  const std::string& kind = application.postprocess.kind;
  if (kind != "detect" && kind != "yolo" && kind != "region") return usual;
  Application lower = application;
  double& threshold = lower.postprocess.detection.threshold;
  threshold = std::min(threshold, least_probability);
  return std::make_unique<WithImprobable>(std::move(usual),
                                          make_postprocessing(lower, network, registry));
}

}  // namespace millrace::application
