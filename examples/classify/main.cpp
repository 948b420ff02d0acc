// Says what is on pictures: the likeliest classes of each, with their labels.
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "application/postprocess.h"
#include "application/preprocess.h"
#include "application/source.h"
#include "millrace.h"

namespace {

namespace application = millrace::application;

/// One a line.
std::vector<std::string> read_labels(const char* file) {
  std::ifstream lines(file);
  std::vector<std::string> labels;
  for (std::string line; std::getline(lines, line);) labels.push_back(line);
  if (labels.empty()) throw std::runtime_error(std::string("found no labels in ") + file);
  return labels;
}

/// How pictures become the network's input, and what its outputs mean. For networks that were
/// trained with values of another range than 0 to 1, set `scale`, `mean` and `deviation` too.
application::Application settings_for(const millrace::network::Network& network,
                                      const std::string& pictures) {
  application::Application settings;
  settings.input.path = pictures;  // a picture, or a folder of them
  const bool is_grey = network[network.inputs[0]].shape[1] == 1;
  settings.preprocess.image.colours =
      is_grey ? application::Colours::grey : application::Colours::rgb;
  settings.postprocess.top = 3;
  return settings;
}

void classify(const char* model, const char* labels_file, const char* pictures) {
  const auto network = millrace::read_network(model);
  const auto labels = read_labels(labels_file);
  const auto settings = settings_for(network, pictures);
  const auto board = millrace::this_machine();
  const auto plan = millrace::find_plan(network, board, millrace::measure(network, board));
  auto pipeline = millrace::deploy(plan, network);

  const auto source = application::open_source(settings, network);
  const auto before = application::make_preprocessing(settings, network, {});
  const auto after = application::make_postprocessing(settings, network, {});
  while (auto picture = source->next()) {
    source->decode(*picture);
    pipeline.submit(before->before(*picture));
    const auto result = pipeline.next();
    const auto findings = after->after(*picture, result->outputs);
    std::printf("%s:", picture->name.c_str());
    for (const application::Ranked& found : *findings.classes)
      std::printf(" %s %.2f", labels.at(static_cast<std::size_t>(found.label)).c_str(),
                  found.value);
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: classify MODEL.onnx LABELS.txt PICTURE|FOLDER\n");
    return 2;
  }
  try {
    classify(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "classify: %s\n", error.what());
    return 3;
  }
}
