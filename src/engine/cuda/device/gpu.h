#pragma once
// A GPU with what all subnets on it share: its kernels, NVIDIA's libraries, and constants.
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/hash.h"
#include "base/store.h"
#include "engine/cuda/device/handles.h"
#include "engine/cuda/library/compiler.h"
#include "engine/cuda/library/convolutions.h"
#include "engine/cuda/library/products.h"
#include "engine/cuda/settings.h"

namespace millrace::engine::cuda {

/// What is loaded once for all GPUs.
struct Platform {
  Settings settings;
  std::vector<std::filesystem::path> folders;
  Driver driver;
  Compiler compiler;
  std::string libraries;            // "cuDNN 9.15.1, cuBLAS 130100", or which of them is not there
  std::shared_ptr<Store> compiled;  // shared by all GPUs; null: kernels are compiled anew
};

/// In bytes, that a library's kernel may take beside its operands.
constexpr std::size_t most_workspace = std::size_t{256} << 20;

/// What a driver says of a GPU.
struct GpuFacts {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  Bytes memory, cache;       // the second level, which all share
  int copy_engines = 0;
};
/// Facts of all GPUs that the driver reaches, in its order.
std::vector<GpuFacts> find_gpus(const Driver& driver);

class Gpu {
 public:
  /// The GPU of this number. The platform is shared with the engine and other GPUs.
  Gpu(std::shared_ptr<const Platform> platform, int index);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const Platform& platform() const { return *platform_; }
  const Driver& driver() const { return platform_->driver; }
  Bytes cache() const { return facts_.cache; }
  /// Its context is the calling thread's from now on.
  void use() const;

  // Thread-safe; the context is the calling thread's.

  /// Compiled, with all kernels of its file, when it is first asked for.
  FunctionObject* kernel(const std::string& name);
  /// A copy of the bytes, for as long as any subnet has it.
  std::shared_ptr<const DeviceMemory> constant(const Digest& digest,
                                               std::span<const std::byte> bytes);
  /// Null where it is not there or switched off.
  Convolutions* convolutions();
  Products* products();

  /// The ways that cuDNN or cuBLASLt propose, asked for once; none where the library is not there.
  std::vector<std::shared_ptr<const PreparedConvolution>> ways(const ConvolutionProblem& problem);
  std::vector<std::shared_ptr<PreparedProduct>> ways(const ProductProblem& problem);
  /// The kernel of this name, as kernel() gave it in an earlier process; null if there is none.
  std::shared_ptr<const PreparedConvolution> way(const ConvolutionProblem& problem,
                                                 const std::string& kernel);
  /// What was found to be the fastest on such a GPU, in this process or an earlier one.
  std::optional<std::string> choice(const std::string& key);
  void remember(const std::string& key, const std::string& name);

  /// Held while the libraries start work, which is captured or timed: one thread at a time.
  std::mutex& turns() { return turns_; }

 private:
  ModuleObject* module_of(std::string_view kernel);
  template <class Library>
  struct Loadable {
    bool asked = false;
    std::optional<Library> loaded;
  };
  template <class Library>
  Library* loaded(Loadable<Library>& library, bool wanted);
  std::string file_of_choice(const std::string& key);

  std::shared_ptr<const Platform> platform_;
  ContextObject* context_ = nullptr;
  GpuFacts facts_;

  struct DigestOrder {
    bool operator()(const Digest& a, const Digest& b) const {
      return a.high != b.high ? a.high < b.high : a.low < b.low;
    }
  };
  std::mutex mutex_;                                           // of all below
  std::map<std::string, ModuleObject*, std::less<>> modules_;
  std::map<Digest, std::weak_ptr<const DeviceMemory>, DigestOrder> constants_;
  std::map<ConvolutionProblem, std::vector<std::shared_ptr<const PreparedConvolution>>>
      convolution_ways_;
  std::map<ProductProblem, std::vector<std::shared_ptr<PreparedProduct>>> product_ways_;
  std::map<std::pair<ConvolutionProblem, std::string>, std::shared_ptr<const PreparedConvolution>>
      known_ways_;
  std::map<std::string, std::string> choices_;
  Loadable<Convolutions> convolutions_;
  Loadable<Products> products_;
  std::mutex turns_;
};

}  // namespace millrace::engine::cuda
