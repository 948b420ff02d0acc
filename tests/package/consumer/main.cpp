// Uses the installed library as a stranger would.
#include <algorithm>
#include <iostream>
#include <string>

#include "millrace.h"
#include "network/npy.h"

int main(int, char** arguments) {
  const std::string models = arguments[1];
  const auto network = millrace::read_network(models + "/digits.onnx");
  const auto board = millrace::this_machine();
  const auto profile = millrace::measure(network, board);
  const auto plan = millrace::find_plan(network, board, profile);
  auto pipeline = millrace::deploy(plan, network);

  const auto images = millrace::network::read_npy(models + "/digits_test_images.npy");
  const auto input = millrace::network::make_array<float>(images.type, {1, 1, 8, 8},
                                                          images.values<float>().first(64));
  pipeline.submit({&input, 1});
  const auto result = pipeline.next();
  const auto scores = result->outputs[0].values<float>();
  std::cout << "the first image is a "
            << std::max_element(scores.begin(), scores.end()) - scores.begin() << "\n";
}
