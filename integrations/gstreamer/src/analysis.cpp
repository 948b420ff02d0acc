#include "analysis.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace millrace_gst {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

millrace::Error wrong(const std::string& place, const std::string& finding) {
  return {millrace::ErrorKind::input, place + ": " + finding, {place, finding, {}}};
}

/// A file that is removed with the object.
class TemporaryApplication {
 public:
  explicit TemporaryApplication(const std::string& text) {
    std::string folder = (fs::temp_directory_path() / "millrace-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw wrong(folder, "cannot be made");
    folder_ = folder;
    std::ofstream(path()) << text;
  }
  ~TemporaryApplication() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  TemporaryApplication(const TemporaryApplication&) = delete;
  TemporaryApplication& operator=(const TemporaryApplication&) = delete;
  std::string path() const { return (folder_ / "element.yaml").string(); }

 private:
  fs::path folder_;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');)
    if (!word.empty()) words.push_back(word);
  return words;
}

bool is_grey(const millrace::Model& model) {
  const millrace::Shape shape = model.inputs().front().shape;
  return shape.size() == 4 && (shape[1] == 1 || shape[3] == 1);
}

/// What classifiers were trained with most often: ImageNet's.
Json preprocess_of(const MillraceSettings& settings) {
  if (is_grey(millrace::Model::from_file(settings.model))) return {{"colours", "grey"}};
  if (settings.kind != "classify") return Json::object();
  return {{"mean", {0.485, 0.456, 0.406}}, {"deviation", {0.229, 0.224, 0.225}}};
}

Json postprocess_of(const MillraceSettings& settings) {
  if (settings.kind == "classify") return {{"kind", "top_k"}, {"top", 5}};
  if (settings.kind != "detect" && settings.kind != "segment" && settings.kind != "pose")
    throw wrong("kind",
                "found '" + settings.kind + "', expected detect, classify, segment or pose");
  Json json = {{"kind", "detect"}, {"threshold", settings.threshold}};
  if (!settings.head.empty()) json["head"] = settings.head;
  return json;
}

/// What `millrace detect` would run: the head says how pictures are prepared. JSON is YAML.
std::string application_text(const MillraceSettings& settings) {
  Json json = {{"format", 1},
               {"network", {{"model", fs::absolute(settings.model).string()}}},
               {"input", {{"camera", 0}}},
               {"postprocess", postprocess_of(settings)}};
  if (const Json before = preprocess_of(settings); !before.empty()) json["preprocess"] = before;
  if (!settings.labels.empty()) json["labels"] = fs::absolute(settings.labels).string();
  return json.dump();
}

millrace::Application application_of(const MillraceSettings& settings) {
  if (settings.config.empty() == settings.model.empty())
    throw wrong("millrace", "set one of the properties config and model");
  if (!settings.config.empty()) return millrace::Application::from_file(settings.config);
  const TemporaryApplication file(application_text(settings));
  return millrace::Application::from_file(file.path());
}

millrace::Plan plan_of(const millrace::Model& model, const MillraceSettings& settings) {
  if (!settings.plan.empty()) return millrace::Plan::from_file(settings.plan, model);
  millrace::PlanRequest request;
  request.processors = split(settings.processors);
  return millrace::plan(model, request);
}

millrace::PixelFormat format_of(const GstVideoFrame& frame) {
  switch (GST_VIDEO_FRAME_FORMAT(&frame)) {
    case GST_VIDEO_FORMAT_BGR:
      return millrace::PixelFormat::bgr;
    case GST_VIDEO_FORMAT_GRAY8:
      return millrace::PixelFormat::grey;
    default:
      return millrace::PixelFormat::rgb;
  }
}

}  // namespace

std::string name_of(std::int64_t label, const std::vector<std::string>& labels) {
  const auto index = static_cast<std::size_t>(label);
  return label >= 0 && index < labels.size() ? labels[index] : std::to_string(label);
}

Analysis::Analysis(const MillraceSettings& settings)
    : Analysis(application_of(settings), settings) {}

Analysis::Analysis(millrace::Application application, const MillraceSettings& settings)
    : application_(std::move(application)),
      session_(application_.start(plan_of(application_.model(), settings))) {
  measure_latency();
}

void Analysis::measure_latency() {
  constexpr int width = 640, height = 480;
  const std::vector<std::uint8_t> black(std::size_t{3} * width * height);
  const millrace::Image image = millrace::Image::copy_of(
      {width, height, black.data(), millrace::PixelFormat::rgb, std::int64_t{3} * width});
  for (int i = 0; i < 3; ++i) {  // the first one finds cold caches
    const auto begin = std::chrono::steady_clock::now();
    session_.run(image);
    latency_ = std::chrono::steady_clock::now() - begin;
  }
}

bool Analysis::submit(std::shared_ptr<const GstVideoFrame> frame) {
  const millrace::Pixels pixels = {GST_VIDEO_FRAME_WIDTH(frame.get()),
                                   GST_VIDEO_FRAME_HEIGHT(frame.get()),
                                   GST_VIDEO_FRAME_PLANE_DATA(frame.get(), 0), format_of(*frame),
                                   GST_VIDEO_FRAME_PLANE_STRIDE(frame.get(), 0)};
  return session_.submit(millrace::Image::view_of(pixels, std::move(frame)));
}

}  // namespace millrace_gst
