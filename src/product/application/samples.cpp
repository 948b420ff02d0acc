#include "product/application/samples.h"

#include <fmt/format.h>

#include <algorithm>

#include "application/application_file.h"
#include "application/source.h"
#include "application/steps.h"
#include "base/error.h"
#include "base/interrupt.h"

namespace millrace::product {
namespace {

constexpr std::int64_t most_kept = std::int64_t{1} << 30;  // bytes of decoded pictures

std::int64_t bytes_of(const application::Picture& picture) {
  std::int64_t bytes = picture.image.empty() ? 0 : picture.image.pixels->size().count;
  for (const network::Array& array : picture.arrays) bytes += array.memory->size().count;
  return bytes;
}

/// As a run of the application would: with `on_error: skip`, pictures that cannot be decoded are
/// left out.
bool is_decoded(application::Source& source, const application::Application& application,
                application::Picture& picture, const Context& context) {
  try {
    source.decode(picture);
    return true;
  } catch (const InputError& error) {
    if (!application::may_be_skipped(application, picture)) throw;
    context.note(fmt::format("skipped: {}", error.what()));
    return false;
  }
}

void take_pictures(ApplicationSamples& samples, std::int64_t most, const Context& context) {
  const application::Application& application = samples.application->application;
  const application::Input& input = application.input;
  const InterruptGuard interrupt(context.interrupt);
  const auto source = application::open_source(application, samples.application->network());
  if (input.frames > 0) most = std::min(most, input.frames);
  std::int64_t kept = 0;
  while (static_cast<std::int64_t>(samples.pictures.size()) < most && kept < most_kept) {
    interrupt.check();
    auto picture = source->next();
    if (!picture) break;
    if (!is_decoded(*source, application, *picture, context)) continue;
    kept += bytes_of(*picture);
    samples.pictures.push_back(std::move(*picture));
  }
  if (samples.pictures.empty()) throw InputError(input.place, "there are no frames to learn from");
  const auto taken = static_cast<std::int64_t>(samples.pictures.size());
  if (taken == most || kept >= most_kept)
    context.note(fmt::format("the first {} frames of '{}' are used", taken, input.path));
}

}  // namespace

void refuse_image_options(const application::FrameOptions& frames) {
  const application::FrameOptions usual;
  const char* given = frames.mean != usual.mean             ? "⟨mean⟩"
                      : frames.deviation != usual.deviation ? "⟨std⟩"
                      : frames.bgr                          ? "⟨bgr⟩"
                      : frames.raw                          ? "⟨raw⟩"
                                                            : nullptr;
  if (given != nullptr)
    throw InputError(given,
                     "the application's 'preprocess' says how pictures become inputs; leave "
                     "it out");
}

ApplicationOptions ApplicationFrameOptions::application() const {
  ApplicationOptions options;
  options.plugins = plugins;
  options.labels_from = labels_from;
  return options;
}

bool is_of_application(const ApplicationFrameOptions& options,
                       const application::FrameOptions& frames) {
  if (options.file.empty() || frames.random > 0 || frames.inputs.size() > 1) return false;
  return frames.inputs.empty() || frames.inputs.front().find('=') == std::string::npos;
}

void replace_input(application::Application& application, const application::FrameOptions& frames) {
  using application::InputKind;
  application::Input& input = application.input;
  if (!frames.inputs.empty()) {
    application.beside.clear();
    input.path = frames.inputs.front();
    input.kind = input.path.ends_with(".npy") ? InputKind::arrays : InputKind::images;
    input.place = "⟨input⟩";
  }
  for (const application::Input& each : application.inputs())
    if (each.kind == InputKind::camera)
      throw InputError(each.place,
                       "a camera's pictures are others each time; give a folder with ⟨input⟩");
}

std::unique_ptr<ApplicationSamples> open_application_samples(
    const ApplicationFrameOptions& options, const application::FrameOptions& frames,
    const network::Network& network, const Context& context) {
  refuse_image_options(frames);
  auto result = std::make_unique<ApplicationSamples>();
  result->application = load_processing(options.file, options.application(), network);
  if (result->application->batch > 1)
    throw InputError(network.name, fmt::format("takes {} pictures at once, and losses and ranges "
                                               "are measured picture by picture; give the same "
                                               "network with a batch of 1",
                                               result->application->batch));
  replace_input(result->application->application, frames);
  take_pictures(*result, options.most_frames, context);
  const ApplicationSamples* const borrowed = result.get();
  const application::Frames made{result->pictures.size(), [borrowed](std::size_t i) {
                      const application::Picture& picture = borrowed->pictures[i];
                      return application::NamedFrame{picture.name,
                                                borrowed->application->before->before(picture)};
                    }};
  result->samples = application::samples_of(network, made);
  return result;
}

}  // namespace millrace::product
