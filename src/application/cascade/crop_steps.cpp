#include "application/cascade/crop_steps.h"

#include <algorithm>
#include <utility>

#include "application/batching.h"
#include "network/finite.h"

namespace millrace::application {

void prepare_crops(const CropParts& parts, Travel& travel) {
  const Picture& picture = travel.outcome.picture;
  Findings& findings = travel.outcome.findings;
  guarded("crops", picture, [&] {
    choose_crops(parts, picture, findings);
    for (const CropFindings& crop : findings.crops) {
      CropTravel& added = travel.crops.emplace_back(CropTravel{cut(picture, crop), {}});
      added.inputs = parts.before->before(added.picture);
      travel.has_finite_inputs = travel.has_finite_inputs && network::is_finite(added.inputs);
    }
  });
}

std::size_t crop_runs(const CropParts& parts, const Travel& travel) {
  const auto batch = static_cast<std::size_t>(parts.crops->batch);
  return (travel.crops.size() + batch - 1) / batch;
}

std::vector<std::vector<network::Array>> take_crop_inputs(const CropParts& parts, Travel& travel) {
  const auto batch = static_cast<std::size_t>(parts.crops->batch);
  std::vector<std::vector<network::Array>> runs;
  for (std::size_t first = 0; first < travel.crops.size(); first += batch) {
    std::vector<std::vector<network::Array>> each;
    for (std::size_t i = first; i < std::min(first + batch, travel.crops.size()); ++i)
      each.push_back(std::exchange(travel.crops[i].inputs, {}));
    runs.push_back(batch == 1 ? std::move(each.front()) : joined(each, parts.crops->batch));
  }
  return runs;
}

void examine_crops(const CropParts& parts, Travel& travel) {
  const auto batch = static_cast<std::size_t>(parts.crops->batch);
  for (const auto& outputs : travel.crop_outputs)
    travel.has_finite_outputs = travel.has_finite_outputs && network::is_finite(outputs);
  guarded("crops: " + parts.crops->postprocess.kind, travel.outcome.picture, [&] {
    for (std::size_t i = 0; i < travel.crops.size(); ++i) {
      const std::vector<network::Array>& outputs = travel.crop_outputs.at(i / batch);
      const Picture& picture = travel.crops[i].picture;
      add_findings(batch == 1 ? parts.after->after(picture, outputs)
                              : parts.after->after(
                                    picture, part_of(outputs, static_cast<std::int64_t>(i % batch),
                                                     parts.crops->batch)),
                   i, travel.outcome.findings);
    }
  });
  travel.crop_outputs.clear();
  travel.crops.clear();
  travel.cropped = Clock::now();
}

void run_crops(const CropParts& parts, Travel& travel) {
  prepare_crops(parts, travel);
  for (const std::vector<network::Array>& inputs : take_crop_inputs(parts, travel))
    travel.crop_outputs.push_back(parts.sequential->run(inputs));
  examine_crops(parts, travel);
}

}  // namespace millrace::application
