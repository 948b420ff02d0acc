#include "engine/onednn/onednn.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engine/onednn/builder.h"
#include "engine/onednn/kernels_hash.h"
#include "engine/onednn/lower/lower.h"
#include "engine/onednn/memory/weights.h"
#include "engine/onednn/subnet.h"
#include "engine/onednn/threads/team.h"
#include "engine/onednn/ways.h"
#include "engine/request.h"
#include "network/evaluate/evaluate.h"

namespace millrace::engine::onednn {
namespace {

std::string by_number(dnnl::cpu_isa isa) {
  return fmt::format("instructions {:#x}", static_cast<unsigned>(isa));
}

#if defined(__aarch64__)
/// oneDNN's header has names for x86 only; each of these includes those before.
std::string name_of(dnnl::cpu_isa isa) {
  switch (static_cast<unsigned>(isa)) {
    case 0x1:
      return "asimd";
    case 0x3:
      return "sve_128";
    case 0x7:
      return "sve_256";
    case 0x1f:
      return "sve_512";
    default:
      return by_number(isa);
  }
}
#else
/// Instruction sets that only some versions of oneDNN know go by number.
std::string name_of(dnnl::cpu_isa isa) {
  switch (isa) {
    case dnnl::cpu_isa::sse41:
      return "sse41";
    case dnnl::cpu_isa::avx:
      return "avx";
    case dnnl::cpu_isa::avx2:
      return "avx2";
    case dnnl::cpu_isa::avx2_vnni:
      return "avx2_vnni";
    case dnnl::cpu_isa::avx512_core:
      return "avx512_core";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "avx512_core_amx";
    default:
      return by_number(isa);
  }
}
#endif

std::string text_of(const dnnl::error& error) {
  return fmt::format("oneDNN reports '{}' (status {})", error.what(),
                     static_cast<int>(error.status));
}

/// Other kernels of ours are another version: what was measured before is then measured again.
std::string version_text() {
  const auto* v = dnnl::version();
  return fmt::format("{}.{}.{}, {}, {}, kernels {}", v->major, v->minor, v->patch,
                     name_of(dnnl::get_effective_cpu_isa()), thread_runtime(), kernels_hash);
}

class OneDnn final : public Engine {
 public:
  explicit OneDnn(const EngineOptions& options)
      : weights_(engine_, {options.packed, version_text()}) {}

  std::string name() const override { return "onednn"; }

  std::string version() const override { return version_text(); }

  using Engine::supports;
  Verdict supports(const network::Network& network, std::span<const LayerId> layers,
                   const board::Processor& processor) const override {
    if (processor.kind != board::ProcessorKind::cpu)
      return Verdict::no("oneDNN's engine runs on CPU cores only");
    return all_of(layers, [&](LayerId layer) { return network::can_evaluate(network, layer); });
  }

  std::optional<Traits> traits(const board::Processor& processor) const override {
    if (processor.kind != board::ProcessorKind::cpu) return std::nullopt;
    return Traits{};
  }

  std::vector<board::Variant> variants(const network::Network& network, LayerId layer,
                                       const board::Processor& processor) const override {
    if (!supports(network, layer, processor)) return {};
    std::vector<board::Variant> result;
    run_on(processor.cores, [&] {
      result = ways_to_run({engine_, nullptr}, network, layer, processor);
    });
    return result;
  }

  std::unique_ptr<Subnet> prepare(const SubnetRequest& request) override {
    check_space(*this, request);
    for (const LayerId layer : request.layers) {
      const Verdict verdict = supports(*request.network, layer, request.processor);
      if (!verdict) throw InputError((*request.network)[layer].name, verdict.reason());
      if (!request.variants.empty())
        check(request.variants[layer.index].precision, (*request.network)[layer].name);
    }
    std::unique_ptr<Subnet> subnet;
    try {
      run_on(request.processor.cores, [&] { subnet = build(request); });
      return subnet;
    } catch (const dnnl::error& error) {
      throw EngineError(place_of(request) + ": " + text_of(error));
    }
  }

 private:
  /// Whether there are kernels for it: InputError. On x86-64 oneDNN imitates bfloat16.
  static void check(board::Precision precision, const std::string& layer) {
    if (precision == board::Precision::f16 && !has_float16())
      throw InputError(layer,
                       "is to run in f16, which takes a processor with instructions for it and, "
                       "on x86-64, oneDNN 3; make a new plan here with 'millrace plan'");
#if defined(__aarch64__)
    if (precision == board::Precision::bf16 && !has_bfloat16())
      throw InputError(layer,
                       "is to run in bf16, which takes a processor with instructions for it "
                       "('bf16' in 'millrace board'); make a new plan here with 'millrace plan'");
#endif
  }

  std::unique_ptr<Subnet> build(const SubnetRequest& request) {
    Builder builder({engine_, &weights_}, request);
    const auto asked = [&](const Group& group) { return accepts(builder, group); };
    for (const Group& group :
         make_groups({request.network, request.layers, request.outputs}, asked)) {
      try {
        lower(builder, group);
      } catch (const dnnl::error& error) {
        throw EngineError((*request.network)[group.head].name + ": " + text_of(error));
      }
    }
    auto [program, outputs] = builder.finish();
    if (request.announce) request.announce(outputs);
    return make_subnet(engine_, {request.network, request.processor.cores, request.inputs,
                                 std::move(outputs), std::move(program)});
  }

  static std::string place_of(const SubnetRequest& request) {
    if (request.layers.empty()) return "an empty subnet";
    return "the subnet from " + (*request.network)[request.layers.front()].name + " to " +
           (*request.network)[request.layers.back()].name;
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  WeightCache weights_;
};

}  // namespace

std::unique_ptr<Engine> make(const EngineOptions& options) {
  refuse_settings(options, "onednn");
  try {
    return std::make_unique<OneDnn>(options);
  } catch (const dnnl::error& error) {
    throw EngineError("oneDNN cannot start on this machine: " + text_of(error));
  }
}

}  // namespace millrace::engine::onednn
