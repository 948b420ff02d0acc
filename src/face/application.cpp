#include "millrace/application.h"

#include <atomic>
#include <utility>

#include "application/application_file.h"
#include "application/loaded/crops_at_work.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "face/access.h"
#include "face/application_session.h"
#include "face/convert.h"
#include "face/pictures.h"
#include "product/application/load.h"
#include "product/application/run.h"
#include "product/open_model.h"

namespace millrace {
inline namespace v1 {

struct [[gnu::visibility("hidden")]] Application::Impl {
  Model model;
  std::shared_ptr<const application::Application> application;
  std::string name;  // a file, or one in memory
  std::vector<std::string> plugins = {};
  std::vector<std::string> labels = {}, labels_of_crops = {};
};

namespace {

application::Colours colours_of(PixelFormat format) {
  switch (format) {
    case PixelFormat::bgr:
      return application::Colours::bgr;
    case PixelFormat::grey:
      return application::Colours::grey;
    case PixelFormat::rgb:
      break;
  }
  return application::Colours::rgb;
}

application::Application application_of(const Model& model, const ApplicationSettings& settings) {
  application::Application result;
  result.name = result.file = model.name() + ".yaml";
  result.model = Access::of(model).source;
  application::ImageSettings& image = result.preprocess.image;
  const Preprocessing& before = settings.preprocessing;
  image.fit = before.letterbox ? application::Fit::letterbox : application::Fit::stretch;
  image.colours = colours_of(before.colours);
  image.scale = before.scale;
  image.mean = before.mean;
  image.deviation = before.deviation;
  image.fill = before.fill;
  const Postprocessing& after = settings.postprocessing;
  result.postprocess.kind = after.kind;
  result.postprocess.top = after.top;
  result.postprocess.detection.threshold = after.threshold;
  result.postprocess.detection.suppression = after.overlap;
  result.postprocess.detection.head = after.head;
  result.preprocess.place = result.file + ": preprocessing";
  result.postprocess.place = result.file + ": postprocessing";
  result.labels = settings.labels;
  return result;
}

/// With its steps and the plan, ready to run.
std::unique_ptr<product::LoadedApplication> loaded_of(const Access::Impl<Application>& of,
                                                  const Plan& plan, const SessionOptions& options,
                                                  face::Call& call) {
  const auto& parts = Access::of(plan);
  if (parts.model.hash() != of.model.hash())
    throw InputError(parts.name, "is a plan of another model than the application's; plan its own");
  auto memory = face::memory_of(plan);
  // The plan of the crops stands beside it in the file, and reading it needs their network.
  if (of.application->crops && !parts.file_name.empty()) memory->plans.clear();
  memory->models[of.application->model.file] = Access::of(of.model).network;
  memory->applications[of.name] = of.application;
  product::RunnableOptions runnable;
  runnable.model.source.file = of.name;
  runnable.model.context = call.context(memory);
  runnable.time_scale = options.time_scale;
  product::ApplicationOptions application;
  application.plan = memory->plans.empty() ? parts.file_name : parts.name;
  application.plugins = of.plugins;
  auto loaded = product::load_application(runnable, application);
  if (memory->plans.empty() && loaded->loaded->plan != parts.file->plan)
    throw InputError(parts.file_name, "has changed since the plan was read; read it again");
  return loaded;
}

runtime::Session session_of(const product::LoadedApplication& loaded,
                            const SessionOptions& options) {
  return runtime::deploy(
      *loaded.loaded, loaded.loaded->plan, loaded.application.file,
      application::options_with_crops(loaded, loaded.loaded->plan, {.pin = options.pin}));
}

/// Counts pictures that cannot be decoded.
application::Parts parts_of(const product::LoadedApplication& loaded, application::Source& source,
                            std::atomic<std::int64_t>& skipped, face::Call& call) {
  application::Parts parts = loaded.parts(source);
  parts.skip = [&skipped, &call](const InputError& error) {
    ++skipped;
    call.note(std::string("skipped: ") + error.what());
  };
  return parts;
}

}  // namespace

Application Application::from_file(const std::string& path) { return from_file(path, {}); }

Application Application::from_file(const std::string& path, const ApplicationOptions& options) {
  face::Call call(options.options);
  return face::guarded(call, [&] {
    auto application =
        std::make_shared<const application::Application>(application::read_application(path));
    Model model = Access::make<Model>(
        application->model, std::make_shared<const network::Network>(
                                product::open_model(application->model, call.context())));
    std::vector<std::string> labels = application->labels, labels_of_crops;
    if (application->crops) labels_of_crops = application->crops->labels;
    return Access::make<Application>(std::move(model), std::move(application), path,
                                     options.plugins, std::move(labels),
                                     std::move(labels_of_crops));
  });
}

Application Application::of(const Model& model, const ApplicationSettings& settings) {
  return face::guarded([&] {
    auto application = std::make_shared<const application::Application>(
        application_of(model, settings));
    std::string name = application->file;
    return Access::make<Application>(model, std::move(application), std::move(name),
                                     std::vector<std::string>{}, settings.labels);
  });
}

const Model& Application::model() const { return impl()->model; }
const std::vector<std::string>& Application::labels() const { return impl()->labels; }
const std::vector<std::string>& Application::labels_of_crops() const {
  return impl()->labels_of_crops;
}

ApplicationSession Application::start(const Plan& plan) const {
  return start(plan, SessionOptions{});
}
ApplicationSession Application::start(const Plan& plan, const SessionOptions& options) const {
  return start(plan, nullptr, options);
}
ApplicationSession Application::start(const Plan& plan,
                                      std::function<void(const Outcome&)> take) const {
  return start(plan, std::move(take), SessionOptions{});
}

ApplicationSession Application::start(const Plan& plan, std::function<void(const Outcome&)> take,
                                      const SessionOptions& options) const {
  const auto call = std::make_shared<face::Call>(options.options);
  return face::guarded(*call, [&] {
    auto running = std::make_shared<Access::Impl<ApplicationSession>>(call);
    running->loaded = loaded_of(*impl(), plan, options, *call);
    running->crops = application::deploy_crops(*running->loaded);
    running->session.emplace(session_of(*running->loaded, options));
    running->begin(std::move(take));
    return Access::of_shared<ApplicationSession>(std::move(running));
  });
}

ApplicationTotals Application::run(const Plan& plan,
                                   std::function<void(const Outcome&)> take) const {
  return run(plan, std::move(take), SessionOptions{});
}

ApplicationTotals Application::run(const Plan& plan, std::function<void(const Outcome&)> take,
                                   const SessionOptions& options) const {
  face::Call call(options.options);
  return face::guarded(call, [&] {
    constexpr std::chrono::milliseconds between_looks{50};
    const auto loaded = loaded_of(*impl(), plan, options, call);
    const auto source = application::open_source(loaded->application, loaded->network());
    const auto crops = application::deploy_crops(*loaded);
    auto session = session_of(*loaded, options);
    std::atomic<std::int64_t> skipped{0};
    application::Parts parts = parts_of(*loaded, *source, skipped, call);
    parts.crops = crops ? &crops->parts : nullptr;
    application::Run run(loaded->application, parts, session,
                         [&](application::Outcome each) {
                           take(face::outcome_of(std::move(each)));
                         });
    const InterruptGuard interrupt(&call);
    while (!run.wait_for(between_looks)) interrupt.check();
    const application::Totals totals = run.totals();
    ApplicationTotals result{totals.frames, skipped, totals.elapsed, totals.queue.dropped, {}};
    if (const auto& complaint = totals.complaint)
      result.complaint = complaint->place + ": " + complaint->text;
    return result;
  });
}

}  // namespace v1
}  // namespace millrace
