// From a model file to a running pipeline: recognises handwritten digits.
#include <algorithm>
#include <cstdio>
#include <exception>

#include "millrace.h"
#include "network/npy.h"

namespace {

/// Frame `index` of an array that holds several, one after the other.
millrace::network::Array frame(const millrace::network::Array& images, std::int64_t index,
                               const millrace::network::Tensor& input) {
  const auto size = static_cast<std::size_t>(input.size().count);
  const auto begin = static_cast<std::size_t>(index) * size;
  return millrace::network::make_array(input.type, input.shape,
                                       images.bytes().subspan(begin, size));
}

void recognise(const char* model, const char* images_file) {
  const auto network = millrace::read_network(model);
  const auto board = millrace::this_machine();
  const auto profile = millrace::measure(network, board);
  const auto plan = millrace::find_plan(network, board, profile);
  auto pipeline = millrace::deploy(plan, network);

  // Every stage works on another frame. So as many frames as the pipeline holds are handed over
  // before the first result is taken.
  const auto images = millrace::network::read_npy(images_file);
  const std::int64_t count = 10, ahead = pipeline.session().depth();
  for (std::int64_t i = 0; i < count + ahead; ++i) {
    if (i >= ahead) {
      const auto result = pipeline.next();
      const auto scores = result->outputs[0].values<float>();
      std::printf("%td\n", std::max_element(scores.begin(), scores.end()) - scores.begin());
    }
    if (i < count) {
      const auto input = frame(images, i, network[network.inputs[0]]);
      pipeline.submit({&input, 1});
    }
    if (i + 1 == count) pipeline.finish();  // no more frames come
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: hello MODEL.onnx IMAGES.npy\n");
    return 2;
  }
  try {
    recognise(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hello: %s\n", error.what());
    return 3;
  }
}
