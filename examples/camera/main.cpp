// Runs a network on a video or a camera, and shows how fast: frames per second, and how long each
// took from its capture to its result.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "application/postprocess.h"
#include "application/preprocess.h"
#include "application/run.h"
#include "application/source.h"
#include "millrace.h"

namespace {

namespace application = millrace::application;
using millrace::milliseconds;

/// A camera is given by its number, its device or its address; anything else is a video file.
application::Input input_of(const std::string& where) {
  const bool is_camera = where.find_first_not_of("0123456789") == std::string::npos ||
                         where.starts_with("/dev/") || where.find("://") != std::string::npos;
  application::Input input;
  input.kind = is_camera ? application::InputKind::camera : application::InputKind::video;
  input.path = where;
  input.drop = application::Drop::oldest;  // of a camera that is faster than the network
  return input;
}

void watch(const char* model, const char* where) {
  const auto network = millrace::read_network(model);
  const auto board = millrace::this_machine();
  const auto plan = millrace::find_plan(network, board, millrace::measure(network, board));
  auto pipeline = millrace::deploy(plan, network);

  application::Application settings;
  settings.input = input_of(where);
  if (network[network.inputs[0]].shape[1] == 1)
    settings.preprocess.image.colours = application::Colours::grey;
  const auto source = application::open_source(settings, network);
  const auto before = application::make_preprocessing(settings, network, {});
  const auto after = application::make_postprocessing(settings, network, {});

  // Reading, pre-processing, the network's stages and post-processing each work on another frame.
  std::vector<double> latencies;
  application::Run run(settings, {source.get(), before.get(), after.get()}, pipeline.session(),
                       [&](const application::Outcome& outcome) {
                         latencies.push_back(milliseconds(outcome.latency));
                       });
  while (!run.wait_for(std::chrono::seconds(1))) std::fprintf(stderr, "running\n");
  const application::Totals totals = run.totals();
  if (latencies.empty()) throw std::runtime_error("no frame came out");
  std::sort(latencies.begin(), latencies.end());
  std::printf("%lld frames, %.1f frames/s, latency %.2f ms in the median, %.2f ms at most\n",
              static_cast<long long>(totals.frames),
              static_cast<double>(totals.frames) / millrace::seconds(totals.elapsed),
              latencies[latencies.size() / 2], latencies.back());
  if (totals.complaint) std::fprintf(stderr, "camera: %s\n", totals.complaint->text.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: camera MODEL.onnx VIDEO|CAMERA\n");
    return 2;
  }
  try {
    watch(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "camera: %s\n", error.what());
    return 3;
  }
}
