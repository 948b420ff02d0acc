#include "engine/cuda/cuda.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "engine/cuda/kernels_hash.h"
#include "engine/cuda/library/shared_library.h"
#include "engine/cuda/lower/lower.h"
#include "engine/cuda/subnet.h"
#include "engine/cuda/transfer.h"
#include "engine/request.h"
#include "network/operator_kinds.h"

namespace millrace::engine::cuda {
namespace {

constexpr Bytes most_compiled{std::int64_t{64} << 20};
constexpr int most_streams = 16;  // subnets of one stage that overlap
constexpr const char* how_to_install =
    "install NVIDIA's driver, and the libraries with 'tools/fetch_engines.py cuda' or 'pip install "
    "nvidia-cuda-nvrtc nvidia-cublas nvidia-cudnn-cu13', or name their folder in the environment "
    "variable MILLRACE_CUDA";

std::string name_of_gpu(std::size_t index) { return fmt::format("gpu{}", index); }

/// The driver and the compiler; the text says why they are not there.
struct Loaded {
  std::shared_ptr<const Platform> platform;
  std::vector<GpuFacts> gpus;
  std::string reason;
};

/// Version by the library's own number; 0 where it is not there. All times depend on the version.
std::size_t version_of(std::span<const std::filesystem::path> folders,
                       const std::vector<std::string>& names, const char* function) {
  try {
    std::size_t (*version)() = nullptr;
    SharedLibrary(folders, names).find(function, version);
    return version();
  } catch (const EngineError&) {
    return 0;
  }
}

std::string libraries_text(const Settings& settings,
                           std::span<const std::filesystem::path> folders) {
  // In this order: the second loads the first, wherever that lies.
  const std::size_t cublas =
      settings.cublas ? version_of(folders, product_libraries(), "cublasLtGetVersion") : 0;
  const std::size_t cudnn =
      settings.cudnn ? version_of(folders, convolution_libraries(), "cudnnGetVersion") : 0;
  return fmt::format(
      "{}, {}",
      cudnn == 0 ? "no cuDNN"
                 : fmt::format("cuDNN {}.{}.{}", cudnn / 10000, cudnn / 100 % 100, cudnn % 100),
      cublas == 0 ? "no cuBLAS" : fmt::format("cuBLAS {}", cublas));
}

Loaded load(const EngineOptions& options) {
  const Settings settings = read_settings(options);
  try {
    const std::vector<std::filesystem::path> folders = library_folders(options);
    const Driver driver = load_driver(folders);
    std::vector<GpuFacts> gpus = find_gpus(driver);
    if (gpus.empty()) return {nullptr, {}, "the driver reaches no GPU"};
    std::shared_ptr<Store> compiled;
    if (!options.compiled.empty())
      compiled = std::make_shared<Store>(options.compiled / "cuda", most_compiled);
    return {std::make_shared<Platform>(Platform{settings, folders, driver, Compiler(folders),
                                                libraries_text(settings, folders), compiled}),
            std::move(gpus),
            {}};
  } catch (const EngineError& error) {
    return {nullptr, {}, fmt::format("{}; {}", error.what(), how_to_install)};
  }
}

std::string driver_text(const Driver& driver) {
  int version = 0;
  check(driver, driver.driver_version(&version));
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

class Cuda final : public Engine {
 public:
  explicit Cuda(Loaded loaded) : platform_(loaded.platform), facts_(std::move(loaded.gpus)) {}

  std::string name() const override { return "cuda"; }

  std::string version() const override {
    const std::string set = to_text(platform_->settings);
    return fmt::format("{}, NVRTC {}, {}, kernels {}{}{}", driver_text(platform_->driver),
                       platform_->compiler.version(), platform_->libraries, kernels_hash,
                       set.empty() ? "" : ", ", set);
  }

  using Engine::supports;
  Verdict supports(const network::Network& network, std::span<const LayerId> layers,
                   const board::Processor& processor) const override {
    if (!index_of(processor)) return Verdict::no(not_reached(processor));
    return all_of(layers, [&](LayerId layer) { return can_lower(network, layer); });
  }

  std::vector<board::Variant> variants(const network::Network& network, LayerId layer,
                                       const board::Processor& processor) const override {
    if (!supports(network, layer, processor)) return {};
    std::vector<board::Variant> result{board::Variant{}};
    const network::Operator& op = network[layer].op;
    if (std::holds_alternative<network::Conv>(op) || network::is_product(op))
      result.push_back({board::Precision::f16, {}});
    return result;
  }

  std::optional<Traits> traits(const board::Processor& processor) const override {
    if (!index_of(processor)) return std::nullopt;
    return Traits{.granularity = board::Granularity::subnet,
                  .uses_cores = false,
                  .lets_caller_sleep = !platform_->settings.spins,
                  .memory = processor.name};
  }

  std::unique_ptr<Subnet> prepare(const SubnetRequest& request) override {
    check_plain(*this, request);
    if (request.is_transfer) return prepare_transfer(request);
    check_layers(*this, request);
    check_variants(request);
    for (const std::string& space : spaces_of(request))
      if (!space.empty() && space != request.processor.name) throw_no_space(space);
    return std::make_unique<CudaSubnet>(gpu(*index_of(request.processor)), request);
  }

 private:
  [[noreturn]] static void throw_no_space(const std::string& space) {
    throw NoSuchSpace("the engine cuda has no memory '" + space + "' there");
  }

  /// Each GPU has a memory space of its own, which has its name.
  std::unique_ptr<Subnet> prepare_transfer(const SubnetRequest& request) {
    for (const std::string& space : spaces_of(request))
      for (std::size_t i = 0; i < facts_.size(); ++i)
        if (space == name_of_gpu(i))
          return std::make_unique<CudaTransfer>(gpu(i), space, request);
    throw_no_space(spaces_of(request).front());
  }

  std::optional<std::size_t> index_of(const board::Processor& processor) const {
    if (processor.kind != board::ProcessorKind::gpu) return std::nullopt;
    for (std::size_t i = 0; i < facts_.size(); ++i)
      if (processor.name == name_of_gpu(i)) return i;
    return std::nullopt;
  }

  std::string not_reached(const board::Processor& processor) const {
    return fmt::format("the engine cuda does not reach {}; it reaches gpu0{}", processor.name,
                       facts_.size() > 1 ? " to " + name_of_gpu(facts_.size() - 1) : "");
  }

  void check_variants(const SubnetRequest& request) const {
    if (request.variants.empty()) return;
    for (const LayerId layer : request.layers) {
      const auto known = variants(*request.network, layer, request.processor);
      const board::Variant& asked = request.variants[layer.index];
      const bool follows = asked.algorithm.empty() && asked.precision == board::Precision::f16;
      if (!follows && std::ranges::find(known, asked) == known.end())
        throw InputError((*request.network)[layer].name,
                         fmt::format("the engine cuda has no variant {}; it has f32 and, for "
                                     "convolutions and products, f16",
                                     to_text(asked)));
    }
  }

  /// Made when a first subnet is prepared for it.
  std::shared_ptr<Gpu> gpu(std::size_t index) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Gpu>& gpu = gpus_[index];
    if (!gpu) gpu = std::make_shared<Gpu>(platform_, static_cast<int>(index));
    return gpu;
  }

  std::shared_ptr<const Platform> platform_;  // shared with the GPUs
  std::vector<GpuFacts> facts_;
  std::mutex mutex_;                                  // of the map
  std::map<std::size_t, std::shared_ptr<Gpu>> gpus_;  // shared with their subnets
};

}  // namespace

Verdict can_start(const EngineOptions& options) {
  const Loaded loaded = load(options);
  return loaded.platform ? Verdict::yes() : Verdict::no(loaded.reason);
}

std::vector<ReachedDevice> devices(const EngineOptions& options) {
  const Loaded loaded = load(options);
  std::vector<ReachedDevice> result;
  for (std::size_t i = 0; i < loaded.gpus.size(); ++i) {
    const GpuFacts& facts = loaded.gpus[i];
    board::Device device;
    device.name = name_of_gpu(i);
    device.kind = board::ProcessorKind::gpu;
    device.model = facts.name;
    device.processors = {device.name};
    device.scheduling = board::usual_scheduling(device.kind);
    device.limits.granularity = board::Granularity::subnet;
    device.limits.streams = most_streams;
    device.space = device.name;
    device.costs.copy_engines = std::clamp(facts.copy_engines, 0, 2);
    result.push_back({device, "cuda", driver_text(loaded.platform->driver), facts.memory});
  }
  return result;
}

std::unique_ptr<Engine> make(const EngineOptions& options) {
  Loaded loaded = load(options);
  if (!loaded.platform) throw EngineError(loaded.reason);
  return std::make_unique<Cuda>(std::move(loaded));
}

}  // namespace millrace::engine::cuda
