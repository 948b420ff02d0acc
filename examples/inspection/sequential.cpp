// The same pictures by a plain program: one step after the other, one frame after the other.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <opencv2/core/utility.hpp>

#include "board/board.h"
#include "engine/registry.h"
#include "pictures.h"
#include "product/open_model.h"
#include "runtime/sequential.h"

namespace {

namespace network = millrace::network;

/// A line for each picture, as the task overlay writes them.
void inspect(const network::Network& detector, int camera, int grid, int frames) {
  const auto engine = millrace::engine::make_engine(millrace::engine::engine_names().front());
  millrace::runtime::Sequential detect(detector, *engine,
                                       millrace::board::this_machine().processors.front());
  const network::Tensor& input = detector[detector.inputs[0]];
  cv::Mat picture(inspection::height, inspection::width, CV_8UC3), next, mask;
  for (int frame = 0; frame < frames; ++frame) {
    inspection::capture(frame, camera, picture);
    inspection::denoise(picture, next);
    inspection::correct(next, picture);
    inspection::equalise(picture, next);
    inspection::sharpen(next, picture);
    inspection::edges(picture, mask);
    std::vector<float> planes(static_cast<std::size_t>(input.size().count) / sizeof(float));
    inspection::rescale(picture, planes);
    const auto pixels =
        network::make_array(input.type, input.shape, std::span<const float>(planes));
    const auto detected = detect.run({&pixels, 1});
    inspection::overlay(picture, mask, {detected[0].values<float>(), grid}, next);
    std::printf("%d %llu\n", frame, static_cast<unsigned long long>(inspection::digest(next)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: sequential NETWORK CAMERA GRID FRAMES\n");
    return 2;
  }
  try {
    cv::setNumThreads(1);
    millrace::formats::ModelSource source;
    source.file = argv[1];
    source.size = 160;
    inspect(millrace::product::open_model(source), std::atoi(argv[2]), std::atoi(argv[3]),
            std::atoi(argv[4]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sequential: %s\n", error.what());
    return 3;
  }
}
