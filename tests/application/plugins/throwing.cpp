// Fails at one frame, in the way that its parameters say.
#include <stdexcept>

#include "application/plugin.h"

namespace {

namespace application = millrace::application;

class Throwing : public application::Processing {
 public:
  explicit Throwing(const application::Setup& setup)
      : at_(std::stoll(setup.parameters.at("at"))), odd_(setup.parameters.contains("odd")) {}

  application::Findings after(const application::Picture& picture,
                              std::span<const millrace::network::Array>) const override {
    if (picture.frame == at_ && odd_) throw 42;
    if (picture.frame == at_) throw std::runtime_error("had enough");
    return {};
  }

 private:
  std::int64_t at_;
  bool odd_;
};

}  // namespace

extern "C" const application::Plugin* millrace_plugin() {
  static const application::Plugin plugin{.add = [](application::Registry& registry) {
    registry.add("throwing",
                 [](const application::Setup& setup) { return std::make_unique<Throwing>(setup); });
  }};
  return &plugin;
}
