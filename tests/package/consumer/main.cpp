// Uses the installed library as a stranger would.
#include <algorithm>
#include <iostream>
#include <string>

#include "application/source.h"
#include "millrace.h"
#include "network/npy.h"

/// Pictures come through a library that is loaded when the first is read.
bool can_read_pictures(const std::string& folder, const millrace::network::Network& network) {
  millrace::application::Application application;
  application.input.kind = millrace::application::InputKind::images;
  application.input.path = folder;
  const auto source = open_source(application, network);
  auto picture = source->next();
  source->decode(*picture);
  return picture->image.width > 0;
}

int main(int, char** arguments) {
  const std::string models = arguments[1];
  const auto network = millrace::read_network(models + "/digits.onnx");
  if (!can_read_pictures(models + "/digits_images", network)) return 1;
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
