#include "engine/combined.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>

#include "base/error.h"
#include "engine/combined_subnet.h"

namespace millrace::engine {
namespace {

bool takes_part(const Member& member, const board::Processor& processor) {
  return member.processors.empty() ||
         std::ranges::any_of(member.processors, [&](const std::string& name) {
           return name == processor.name ||
                  (name == on_cores && processor.kind == board::ProcessorKind::cpu);
         });
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

  /// Traits of the first engine that runs anything there. Where several do, a stage may have layers
  /// of each, and tensors lie in the host's memory, which all of them know.
  std::optional<Traits> traits(const board::Processor& processor) const override {
    std::optional<Traits> first;
    for (const Member& member : members_) {
      if (!takes_part(member, processor)) continue;
      const std::optional<Traits> traits = member.engine->traits(processor);
      if (first && traits) first->memory.clear();
      if (!first) first = traits;
    }
    return first;
  }

  std::unique_ptr<Subnet> prepare(const SubnetRequest& request) override {
    if (request.is_transfer) return prepare_transfer(request);
    const network::Network& network = *request.network;
    std::vector<Engine*> engines(network.layers.size(), nullptr);
    std::vector<board::Variant> variants = request.variants;
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
      const std::optional<std::size_t> member = member_of(request, LayerId(i));
      if (!member) continue;
      engines[i] = members_[*member].engine.get();
      const bool is_asked = std::ranges::binary_search(request.layers, LayerId(i));
      if (!variants.empty() && is_asked)
        variants[i] = own_variant(request, LayerId(i), *member);
      else if (!variants.empty())
        variants[i] = {variants[i].precision, {}};  // of neighbours only this counts
    }
    for (const LayerId layer : request.layers)
      if (engines[layer.index] == nullptr)
        throw InputError(network[layer].name, reasons(network, layer, request.processor));
    if (is_in_a_space(request)) return prepare_in_space(request, engines, std::move(variants));
    return prepare_combined(with_plain_outputs(request), engines, std::move(variants));
  }

 private:
  /// By the first that has the memory.
  std::unique_ptr<Subnet> prepare_transfer(const SubnetRequest& request) {
    for (std::size_t m = 0; m + 1 < members_.size(); ++m) try {
        return members_[m].engine->prepare(request);
      } catch (const NoSuchSpace&) {
      }
    return members_.back().engine->prepare(request);
  }

  /// A subnet of one engine, as only it has that memory.
  static std::unique_ptr<Subnet> prepare_in_space(SubnetRequest request,
                                                  const std::vector<Engine*>& engines,
                                                  std::vector<board::Variant> variants) {
    for (const LayerId layer : request.layers)
      if (engines[layer.index] != engines[request.layers.front().index])
        throw InputError((*request.network)[layer].name,
                         "runs by another engine than what stands before it, which works in a "
                         "memory of its own; make the plan again with one engine for the device");
    request.variants = std::move(variants);
    return engines[request.layers.front().index]->prepare(request);
  }

  /// Other subnets read what leaves this one. Where an engine takes part on one core only, it is
  /// not known who they are.
  SubnetRequest with_plain_outputs(SubnetRequest request) const {
    const bool differ = std::ranges::any_of(members_, [](const Member& member) {
      return std::ranges::any_of(member.processors,
                                 [](const std::string& name) { return name.starts_with("core"); });
    });
    if (differ) request.plain.assign(request.outputs.size(), true);
    return request;
  }

  /// Whose variant it is by its name.
  std::size_t named_member(const board::Variant& variant) const {
    for (std::size_t m = 1; m < members_.size(); ++m)
      if (board::is_of_engine(variant, members_[m].engine->name())) return m;
    return 0;
  }

  /// The variant as the engine calls it. Of another engine's variant only the precision counts, if
  /// the engine has it for the layer there.
  board::Variant own_variant(const SubnetRequest& request, LayerId layer,
                             std::size_t member) const {
    const board::Variant& asked = request.variants[layer.index];
    const std::size_t named = named_member(asked);
    if (named != member) return of_other_engine(request, layer, member);
    if (member == 0) return asked;
    const std::string name = members_[member].engine->name();
    return {asked.precision,
            asked.algorithm == name ? "" : asked.algorithm.substr(name.size() + 1)};
  }

  board::Variant of_other_engine(const SubnetRequest& request, LayerId layer,
                                 std::size_t member) const {
    const board::Variant same{request.variants[layer.index].precision, {}};
    const auto offered =
        members_[member].engine->variants(*request.network, layer, request.processor);
    const bool has =
        std::ranges::find(offered, same.precision, &board::Variant::precision) != offered.end();
    return has ? same : board::Variant{};
  }

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
            members_[m].engine->traits(request.processor) &&
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
