// Hands over what no network and no picture can use, in the way that its parameter says.
#include <cmath>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "application/plugin.h"

namespace {

namespace application = millrace::application;
namespace network = millrace::network;

class Wrong : public application::Processing {
 public:
  explicit Wrong(const application::Setup& setup) : how_(setup.parameters.at("how")) {}

  std::vector<network::Array> before(const application::Picture&) const override {
    if (how_ == "throw") throw std::logic_error("no picture");
    if (how_ == "memory") throw std::bad_alloc();
    if (how_ == "odd") throw 7;
    if (how_ == "none") return {};
    if (how_ == "empty") return {network::Array{}};
    if (how_ == "two") return {floats({1, 4}), floats({1, 4})};
    if (how_ == "shape") return {floats({4, 1})};
    if (how_ == "large") return {floats({1, 8})};
    if (how_ == "type") return {network::make_array(network::DataType::int32, {1, 4}, values(4))};
    if (how_ == "shapeless") {
      network::Array array = floats({1, 4});
      array.shape = {};
      return {array};
    }
    if (how_ == "short") {
      network::Array array = floats({1, 2});
      array.shape = {1, 4};
      return {array};
    }
    return {floats({1, 4})};
  }

  application::Findings after(const application::Picture&,
                              std::span<const network::Array>) const override {
    application::Findings findings;
    application::Detection box;
    if (how_ == "throw") throw std::logic_error("no outputs");
    if (how_ == "box") box.left = std::nan("");
    if (how_ == "corner") box.corners = {{0, HUGE_VAL}};
    if (how_ == "mask") box.mask = {0, 0, 3, 3, std::vector<std::uint8_t>(8)};
    if (how_ == "far mask") box.mask = {2, 0, 2, 1, std::vector<std::uint8_t>(2)};
    if (how_ == "huge mask") box.mask = {0, 0, std::int64_t{1} << 32, std::int64_t{1} << 32, {}};
    findings.detections = {box};
    if (how_ == "map") findings.map = {3, 2, std::vector<std::uint8_t>(5)};
    if (how_ == "other map") findings.map = {2, 2, std::vector<std::uint8_t>(4)};
    if (how_ == "class") findings.classes = {{{1, std::nan("")}}};
    if (how_ == "embedding") findings.embedding = {{1, HUGE_VALF}};
    if (how_ == "json") findings.json = "{\"a\": [1, }";
    if (how_ == "deep json") findings.json = std::string(100'000, '[');
    if (how_ == "left out") findings.left_out = -1;
    return findings;
  }

 private:
  static std::span<const float> values(std::size_t count) {
    static const std::vector<float> zeros(8);
    return {zeros.data(), count};
  }
  static network::Array floats(const network::Shape& shape) {
    return network::make_array(network::DataType::float32, shape,
                               values(static_cast<std::size_t>(shape[0] * shape[1])));
  }

  std::string how_;
};

}  // namespace

extern "C" const application::Plugin* millrace_plugin() {
  static const application::Plugin plugin{.add = [](application::Registry& registry) {
    registry.add("wrong",
                 [](const application::Setup& setup) { return std::make_unique<Wrong>(setup); });
    registry.add("nothing", [](const application::Setup&) {
      return std::unique_ptr<application::Processing>();
    });
  }};
  return &plugin;
}
