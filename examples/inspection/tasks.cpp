// The eight tasks of examples/inspection: each calls a step of pictures.h on tokens.
#include <fstream>
#include <opencv2/core/utility.hpp>
#include <string>

#include "application/tasks/task.h"
#include "pictures.h"

namespace {

using millrace::application::Task;
using millrace::application::TaskFiring;
using millrace::application::TaskPort;

const TaskPort picture{"uint8", {inspection::height, inspection::width, 3}};
const TaskPort mask{"uint8", {inspection::height, inspection::width}};
const TaskPort numbers{};  // of a network: whatever it takes or makes

/// OpenCV would do a step with threads of its own, on cores that others have.
const bool has_one_thread = [] {
  cv::setNumThreads(1);
  return true;
}();

/// Tokens as OpenCV sees them, without a copy.
cv::Mat input_of(const TaskFiring& firing, std::size_t index, int type = CV_8UC3) {
  auto* const bytes = const_cast<std::uint8_t*>(firing.input<std::uint8_t>(index).data());
  return {inspection::height, inspection::width, type, bytes};
}
cv::Mat output_of(const TaskFiring& firing, int type = CV_8UC3) {
  return {inspection::height, inspection::width, type, firing.output<std::uint8_t>(0).data()};
}

int number_of(const TaskFiring& firing, const char* key) {
  return std::stoi(firing.parameter(key, "0"));
}

/// A line for each picture, written when the run is over: files take their time.
struct Log {
  std::string file;
  std::vector<std::uint64_t> digests;
  ~Log() {
    if (file.empty()) return;
    std::ofstream out(file);
    for (std::size_t i = 0; i < digests.size(); ++i) out << i << ' ' << digests[i] << '\n';
  }
};

void capture(const TaskFiring& firing) {
  cv::Mat result = output_of(firing);
  inspection::capture(static_cast<int>(firing.number()), number_of(firing, "camera"), result);
}

using Step = void (*)(const cv::Mat& picture, cv::Mat& result);

template <Step step>
void run_step(const TaskFiring& firing) {
  cv::Mat result = output_of(firing);
  step(input_of(firing, 0), result);
}

void rescale(const TaskFiring& firing) {
  inspection::rescale(input_of(firing, 0), firing.output<float>(0));
}

void edges(const TaskFiring& firing) {
  cv::Mat result = output_of(firing, CV_8UC1);
  inspection::edges(input_of(firing, 0), result);
}

void overlay(const TaskFiring& firing) {
  cv::Mat result(inspection::height, inspection::width, CV_8UC3);
  inspection::overlay(input_of(firing, 0), input_of(firing, 1, CV_8UC1),
                      {firing.input<float>(2), number_of(firing, "grid")}, result);
  Log& log = firing.state<Log>();
  log.digests.reserve(100'000);
  log.digests.push_back(inspection::digest(result));
  if (!firing.is_rehearsal()) log.file = firing.parameter("log");
}

}  // namespace

extern "C" const Task capture_task{.run = capture, .inputs = {}, .outputs = {picture}};
extern "C" const Task denoise_task{
    .run = run_step<inspection::denoise>, .inputs = {picture}, .outputs = {picture}};
extern "C" const Task correct_task{
    .run = run_step<inspection::correct>, .inputs = {picture}, .outputs = {picture}};
extern "C" const Task equalise_task{
    .run = run_step<inspection::equalise>, .inputs = {picture}, .outputs = {picture}};
extern "C" const Task sharpen_task{
    .run = run_step<inspection::sharpen>, .inputs = {picture}, .outputs = {picture}};
extern "C" const Task rescale_task{.run = rescale, .inputs = {picture}, .outputs = {numbers}};
extern "C" const Task edges_task{.run = edges, .inputs = {picture}, .outputs = {mask}};
extern "C" const Task overlay_task{
    .run = overlay, .inputs = {picture, mask, numbers}, .outputs = {}};
