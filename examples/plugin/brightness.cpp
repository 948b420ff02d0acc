// A plug-in with a pre-processing and a post-processing of its own: pictures become grey and
// brighter or darker, and a digit counts only if the network is sure enough.
#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>

#include "application/plugin.h"

namespace {

namespace application = millrace::application;
namespace network = millrace::network;

double number(const application::Setup& setup, const std::string& name, double fallback) {
  const auto found = setup.parameters.find(name);
  return found == setup.parameters.end() ? fallback : std::stod(found->second);
}

/// Takes every pixel times `gain`. Pictures have to be as large as the network's input.
class Brightness : public application::Processing {
 public:
  explicit Brightness(const application::Setup& setup)
      : shape_(setup.network[setup.network.inputs.front()].shape),
        gain_(static_cast<float>(number(setup, "gain", 1))) {}

  std::vector<network::Array> before(const application::Picture& picture) const override {
    const application::Image& image = picture.image;
    if (image.empty() || image.height != shape_[2] || image.width != shape_[3])
      throw std::runtime_error("pictures have to be of the input's size");
    std::vector<float> values;
    for (std::size_t i = 0; i < image.bytes().size(); i += 3)
      values.push_back(std::min(1.0f, gain_ * static_cast<float>(image.bytes()[i]) / 255));
    return {
        network::make_array(network::DataType::float32, shape_, std::span<const float>(values))};
  }

 private:
  network::Shape shape_;
  float gain_;
};

/// The likeliest class, or none.
class Sure : public application::Processing {
 public:
  explicit Sure(const application::Setup& setup) : least_(number(setup, "least", 0.5)) {}

  application::Findings after(const application::Picture&,
                              std::span<const network::Array> outputs) const override {
    const auto values = outputs.front().values<float>();
    const auto best = std::max_element(values.begin(), values.end());
    application::Findings findings;
    findings.json = *best < least_ ? "\"unsure\"" : std::to_string(best - values.begin());
    return findings;
  }

 private:
  double least_;
};

void add_all(application::Registry& registry) {
  registry.add("brightness",
               [](const application::Setup& setup) { return std::make_unique<Brightness>(setup); });
  registry.add("sure",
               [](const application::Setup& setup) { return std::make_unique<Sure>(setup); });
}

}  // namespace

extern "C" const application::Plugin* millrace_plugin() {
  static const application::Plugin plugin{.add = add_all};
  return &plugin;
}
