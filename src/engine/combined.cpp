#include "engine/combined.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>

#include "base/error.h"
#include "engine/combined_subnet.h"

namespace millrace::engine {
namespace {

/// The variant as its own engine calls it.
board::Variant without_engine(const board::Variant& variant, const std::string& engine) {
  board::Variant result = variant;
  result.algorithm.erase(0, engine.size());
  if (!result.algorithm.empty()) result.algorithm.erase(0, 1);
  return result;
}

bool begins_with_engine(const board::Variant& variant, const std::string& engine) {
  const std::string& name = variant.algorithm;
  return name.starts_with(engine) && (name.size() == engine.size() || name[engine.size()] == '/');
}

class CombinedEngine final : public Engine {
 public:
  explicit CombinedEngine(std::vector<std::unique_ptr<Engine>> members)
      : members_(std::move(members)) {
    assert(members_.size() > 1);
  }

  std::string name() const override {
    return joined(",", [](const Engine& each) { return each.name(); });
  }
  std::string version() const override {
    return joined(
        "; ", [](const Engine& each) { return fmt::format("{} {}", each.name(), each.version()); });
  }

  using Engine::supports;
  Verdict supports(const network::Network& network, std::span<const LayerId> layers,
                   const board::Processor& processor) const override {
    for (const LayerId layer : layers)
      if (!first_for(network, layer, processor))
        return Verdict::no(reasons(network, layer, processor));
    return Verdict::yes();
  }

  std::vector<board::Variant> variants(const network::Network& network, LayerId layer,
                                       const board::Processor& processor) const override {
    std::vector<board::Variant> result;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      const std::string name = members_[m]->name();
      for (board::Variant way : members_[m]->variants(network, layer, processor)) {
        if (m > 0)
          way.algorithm = way.algorithm.empty() ? name : fmt::format("{}/{}", name, way.algorithm);
        result.push_back(std::move(way));
      }
    }
    return result;
  }

  /// Of the first that runs anything there.
  std::optional<Traits> traits(const board::Processor& processor) const override {
    for (const auto& member : members_)
      if (const std::optional<Traits> traits = member->traits(processor)) return traits;
    return std::nullopt;
  }

  std::unique_ptr<Subnet> prepare(const SubnetRequest& request) override {
    const network::Network& network = *request.network;
    std::vector<Engine*> engines(network.layers.size(), nullptr);
    std::vector<board::Variant> variants = request.variants;
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
      const std::optional<std::size_t> member = member_of(request, LayerId(i));
      if (!member) continue;
      engines[i] = members_[*member].get();
      if (*member > 0 && !variants.empty())
        variants[i] = without_engine(variants[i], engines[i]->name());
    }
    for (const LayerId layer : request.layers)
      if (engines[layer.index] == nullptr)
        throw InputError(network[layer].name, reasons(network, layer, request.processor));
    return prepare_combined(request, engines, std::move(variants));
  }

 private:
  template <class Text>
  std::string joined(const char* between, const Text& text) const {
    std::vector<std::string> texts;
    for (const auto& member : members_) texts.push_back(text(*member));
    return fmt::format("{}", fmt::join(texts, between));
  }

  std::optional<std::size_t> first_for(const network::Network& network, LayerId layer,
                                       const board::Processor& processor) const {
    for (std::size_t m = 0; m < members_.size(); ++m)
      if (members_[m]->supports(network, layer, processor)) return m;
    return std::nullopt;
  }

  /// Who runs the layer; nothing: nobody can on this processor.
  std::optional<std::size_t> member_of(const SubnetRequest& request, LayerId layer) const {
    if (!request.variants.empty())
      for (std::size_t m = 1; m < members_.size(); ++m)
        if (begins_with_engine(request.variants[layer.index], members_[m]->name())) return m;
    return first_for(*request.network, layer, request.processor);
  }

  std::string reasons(const network::Network& network, LayerId layer,
                      const board::Processor& processor) const {
    return joined("; ", [&](const Engine& each) {
      return fmt::format("{}: {}", each.name(), each.supports(network, layer, processor).reason());
    });
  }

  std::vector<std::unique_ptr<Engine>> members_;
};

}  // namespace

std::unique_ptr<Engine> make_combined_engine(std::vector<std::unique_ptr<Engine>> engines) {
  return std::make_unique<CombinedEngine>(std::move(engines));
}

std::string engine_of(const std::string& joined_names, const board::Variant& variant) {
  const std::size_t end = joined_names.find(',');
  for (std::size_t begin = end; begin != std::string::npos;) {
    const std::size_t next = joined_names.find(',', begin + 1);
    const std::string name = joined_names.substr(begin + 1, next - begin - 1);
    if (begins_with_engine(variant, name)) return name;
    begin = next;
  }
  return joined_names.substr(0, end);
}

}  // namespace millrace::engine
