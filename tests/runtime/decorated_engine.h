#pragma once
// An engine around another one, to see and to disturb what the runtime does with it.
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"

namespace millrace::test {

/// What to do differently. `before_run` is called on the stage's thread.
struct Decoration {
  std::function<void(const engine::SubnetRequest&)> before_prepare, before_run;
  /// Not empty: outputs that need not be plain are inverted bit by bit, 64 bytes larger, and have
  /// this format; inputs of any other format than this and "plain" are refused.
  std::string format;
};

class DecoratedSubnet : public engine::Subnet {
 public:
  DecoratedSubnet(engine::Engine& inner, const engine::SubnetRequest& request,
                  const Decoration& decoration)
      : request_(request), decoration_(decoration), inputs_(request.inputs) {
    engine::SubnetRequest plain = request;
    plain.announce = {};  // the inner layouts are not those that others see
    for (engine::Port& port : plain.inputs)
      port.layout = engine::plain_layout((*request.network)[port.tensor]);
    plain.plain.assign(plain.outputs.size(), true);
    inner_ = inner.prepare(plain);
    for (std::size_t i = 0; i < request.outputs.size(); ++i) {
      engine::Port port = inner_->outputs()[i];
      if (!decoration.format.empty() && !request.plain[i])
        port.layout = {decoration.format, port.layout.size + Bytes{64}};
      outputs_.push_back(port);
    }
    for (const engine::Port& port : inputs_) refuse_foreign(port);
  }

  std::span<const engine::Port> inputs() const override { return inputs_; }
  std::span<const engine::Port> outputs() const override { return outputs_; }
  engine::Memory memory() const override { return inner_->memory(); }

  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override {
    if (decoration_.before_run) decoration_.before_run(request_);
    std::vector<std::vector<std::byte>> copies;
    std::vector<const std::byte*> plain;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      plain.push_back(is_ours(inputs_[i]) ? inverted(in[i], inputs_[i], copies) : in[i]);
    inner_->run(plain, out);
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (is_ours(outputs_[i])) invert(out[i], outputs_[i]);
  }
  std::vector<engine::GroupTime> run_timed(std::span<const std::byte* const> in,
                                           std::span<std::byte* const> out) override {
    run(in, out);
    return {};
  }

 private:
  static bool is_ours(const engine::Port& port) { return port.layout.format != "plain"; }

  void refuse_foreign(const engine::Port& port) const {
    if (is_ours(port) && port.layout.format != decoration_.format)
      throw EngineError("cannot read the format " + port.layout.format);
  }
  static void invert(std::byte* data, const engine::Port& port) {
    for (std::int64_t i = 0; i < port.layout.size.count - 64; ++i) data[i] = ~data[i];
  }
  static const std::byte* inverted(const std::byte* data, const engine::Port& port,
                                   std::vector<std::vector<std::byte>>& copies) {
    copies.emplace_back(data, data + port.layout.size.count);
    invert(copies.back().data(), port);
    return copies.back().data();
  }

  engine::SubnetRequest request_;
  Decoration decoration_;
  std::vector<engine::Port> inputs_, outputs_;
  std::unique_ptr<engine::Subnet> inner_;
};

class DecoratedEngine : public engine::Engine {
 public:
  DecoratedEngine(engine::Engine& inner, Decoration decoration)
      : inner_(inner), decoration_(std::move(decoration)) {}
  std::string name() const override { return "decorated " + inner_.name(); }
  std::string version() const override { return inner_.version(); }
  using Engine::supports;
  Verdict supports(const network::Network& network, std::span<const LayerId> layers,
                   const board::Processor& processor) const override {
    return inner_.supports(network, layers, processor);
  }
  std::unique_ptr<engine::Subnet> prepare(const engine::SubnetRequest& request) override {
    if (decoration_.before_prepare) decoration_.before_prepare(request);
    return std::make_unique<DecoratedSubnet>(inner_, request, decoration_);
  }

 private:
  engine::Engine& inner_;
  Decoration decoration_;
};

}  // namespace millrace::test
