// Uses the installed library as a stranger would: a model in memory, a plan, one frame.
#include <millrace/millrace.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>

int main(int, char** arguments) {
  std::ifstream file(arguments[1], std::ios::binary), pixels(arguments[2]);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const std::vector<float> image{std::istream_iterator<float>(pixels), {}};
  const auto model = millrace::Model::from_memory({{bytes.data(), bytes.size()}});
  auto session = millrace::plan(model).start();
  const auto outputs = session.run({millrace::Tensor::of({1, 1, 8, 8}, image)});
  const auto scores = outputs[0].values<float>();
  std::cout << "the image is a "
            << std::max_element(scores.begin(), scores.end()) - scores.begin() << "\n";
}
