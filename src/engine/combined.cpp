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

bool takes_part(const Member& member, const board::Processor& processor) {
  return member.processors.empty() ||
         std::ranges::find(member.processors, processor.name) != member.processors.end();
}

class CombinedEngine final : public Engine {
 public:
  explicit CombinedEngine(std::vector<Member> members) : members_(std::move(members)) {
    assert(!members_.empty());
  }

  std::string name() const override {
    return joined(",", [](const Member& each) {
      if (each.processors.empty()) return each.engine->name();
      return fmt::format("{}@{}", each.engine->name(), fmt::join(each.processors, "@"));
    });
  }
  std::string version() const override {
    return joined("; ", [](const Member& each) {
      return fmt::format("{} {}", each.engine->name(), each.engine->version());
    });
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
      if (!takes_part(members_[m], processor)) continue;
      const std::string name = members_[m].engine->name();
      for (board::Variant way : members_[m].engine->variants(network, layer, processor)) {
        if (m > 0)
          way.algorithm = way.algorithm.empty() ? name : fmt::format("{}/{}", name, way.algorithm);
        result.push_back(std::move(way));
      }
    }
    return result;
  }

  /// Of the first that runs anything there.
  std::optional<Traits> traits(const board::Processor& processor) const override {
    for (const Member& member : members_)
      if (takes_part(member, processor))
        if (const std::optional<Traits> traits = member.engine->traits(processor)) return traits;
    return std::nullopt;
  }

  std::unique_ptr<Subnet> prepare(const SubnetRequest& request) override {
    const network::Network& network = *request.network;
    std::vector<Engine*> engines(network.layers.size(), nullptr);
    std::vector<board::Variant> variants = request.variants;
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
      const std::optional<std::size_t> member = member_of(request, LayerId(i));
      if (!member) continue;
      engines[i] = members_[*member].engine.get();
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
    for (const Member& member : members_) texts.push_back(text(member));
    return fmt::format("{}", fmt::join(texts, between));
  }

  std::optional<std::size_t> first_for(const network::Network& network, LayerId layer,
                                       const board::Processor& processor) const {
    for (std::size_t m = 0; m < members_.size(); ++m)
      if (takes_part(members_[m], processor) &&
          members_[m].engine->supports(network, layer, processor))
        return m;
    return std::nullopt;
  }

  /// Who runs the layer; nothing: nobody can on this processor.
  std::optional<std::size_t> member_of(const SubnetRequest& request, LayerId layer) const {
    if (!request.variants.empty())
      for (std::size_t m = 1; m < members_.size(); ++m)
        if (takes_part(members_[m], request.processor) &&
            board::is_of_engine(request.variants[layer.index], members_[m].engine->name()))
          return m;
    return first_for(*request.network, layer, request.processor);
  }

  std::string reasons(const network::Network& network, LayerId layer,
                      const board::Processor& processor) const {
    return joined("; ", [&](const Member& each) {
      const Engine& engine = *each.engine;
      if (!takes_part(each, processor))
        return fmt::format("{}: takes part on {} only", engine.name(),
                           fmt::join(each.processors, ", "));
      return fmt::format("{}: {}", engine.name(),
                         engine.supports(network, layer, processor).reason());
    });
  }

  std::vector<Member> members_;
};

}  // namespace

std::unique_ptr<Engine> make_combined_engine(std::vector<Member> members) {
  return std::make_unique<CombinedEngine>(std::move(members));
}

}  // namespace millrace::engine
