// From a model file to a running pipeline: recognises handwritten digits.
#include <millrace/millrace.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

int main(int, char** arguments) try {
  const auto plan = millrace::plan(millrace::Model::from_file(arguments[1]));
  auto session = plan.start([](const millrace::Result& result) {
    const auto scores = result.outputs[0].values<float>();
    std::printf("%td\n", std::max_element(scores.begin(), scores.end()) - scores.begin());
  });
  std::ifstream pixels(arguments[2]);  // 64 numbers for each digit
  for (std::vector<float> digit(64);;) {
    for (float& value : digit) pixels >> value;
    if (!pixels) break;
    session.submit({millrace::Tensor::of({1, 1, 8, 8}, digit)});
  }
  session.wait();
} catch (const std::exception& error) {
  std::fprintf(stderr, "hello: %s\n", error.what());
  return 1;
}
