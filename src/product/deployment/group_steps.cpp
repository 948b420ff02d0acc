#include "product/deployment/group_steps.h"

#include <chrono>
#include <cstddef>
#include <utility>

#include "application/cascade/crop_steps.h"
#include "application/source.h"
#include "base/error.h"
#include "board/board.h"
#include "network/tensor.h"
#include "runtime/controller/task_times.h"

namespace millrace::product {
namespace {

/// So many pictures of an application's input are kept, decoded; a drive uses them in turn.
constexpr std::size_t most_pictures = 8;

std::vector<application::Picture> first_pictures(const LoadedApplication& loaded) {
  if (loaded.batch > 1)
    throw InputError(loaded.application.file,
                     "its network takes several pictures at once, which groups of a deployment do "
                     "not; give the same network with a batch of 1");
  const auto source = application::open_source(loaded.application, loaded.network());
  std::vector<application::Picture> pictures;
  while (pictures.size() < most_pictures) {
    auto picture = source->next();
    if (!picture) break;
    source->decode(*picture);
    pictures.push_back(std::move(*picture));
  }
  if (pictures.empty())
    throw InputError(loaded.application.input.path, "it holds no picture, expected one at least");
  return pictures;
}

/// As many boxes as get a crop, each of the whole picture.
void fill_boxes(const application::CropParts& parts, application::Outcome& outcome) {
  application::Detection box;
  box.label = parts.classes.empty() ? 0 : parts.classes.front();
  box.probability = 1;
  box.width = outcome.picture.image.width;
  box.height = outcome.picture.image.height;
  outcome.findings.detections.emplace(static_cast<std::size_t>(parts.crops->most), box);
}

}  // namespace

GroupSteps open_steps(const system::Group& group, const Context& context) {
  GroupSteps result;
  if (group.application.empty()) return result;
  RunnableOptions runnable;
  runnable.model.source.file = group.application;
  runnable.model.processors = {board::this_machine().processors.front().name};
  runnable.model.context = context;
  result.application = load_application(runnable, {});
  result.pictures = first_pictures(*result.application);
  result.crops = application::crops_in_turn(*result.application,
                                            board::this_machine().processors.front(), false);
  return result;
}

application::Outcome outcome_of(const GroupSteps& steps, application::Picture picture,
                                const std::vector<network::Array>& outputs, bool is_rehearsed) {
  application::Travel travel;
  application::Outcome& outcome = travel.outcome;
  outcome.findings = steps.application->after->after(picture, outputs);
  outcome.picture = std::move(picture);
  if (!steps.crops) return std::move(outcome);
  if (is_rehearsed) fill_boxes(steps.crops->parts, outcome);
  application::run_crops(steps.crops->parts, travel);
  return std::move(outcome);
}

explore::StepTimes times_of_steps(const GroupSteps& steps) {
  constexpr int runs = 20;
  const network::Network& network = steps.application->loaded->network;
  std::vector<network::Array> outputs;
  for (TensorId id : network.outputs)
    outputs.push_back(network::make_array(network[id].type, network[id].shape,
                                          network::Buffer(network[id].size())));
  std::vector<Time> before, after;
  for (int run = 0; run < runs; ++run) {
    application::Picture picture =
        steps.pictures[static_cast<std::size_t>(run) % steps.pictures.size()];
    const auto begin = std::chrono::steady_clock::now();
    static_cast<void>(steps.application->before->before(picture));
    const auto middle = std::chrono::steady_clock::now();
    static_cast<void>(outcome_of(steps, std::move(picture), outputs, true));
    before.push_back(middle - begin);
    after.push_back(std::chrono::steady_clock::now() - middle);
  }
  return {runtime::times_of(before).worst, runtime::times_of(after).worst};
}

}  // namespace millrace::product
