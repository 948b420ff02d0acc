#include "engine/cuda/device/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "base/error.h"
#include "engine/cuda/kernels/texts.h"

namespace millrace::engine::cuda {
namespace {

constexpr std::size_t most_ways = 8;

std::string name_of(const Driver& driver, Device device) {
  std::array<char, 128> name{};
  check(driver, driver.device_name(name.data(), static_cast<int>(name.size()), device));
  return name.data();
}

GpuFacts facts_of(const Driver& driver, Device device) {
  GpuFacts facts;
  facts.name = name_of(driver, device);
  check(driver, driver.device_attribute(&facts.major, major_capability, device));
  check(driver, driver.device_attribute(&facts.minor, minor_capability, device));
  int cache = 0;
  check(driver, driver.device_attribute(&cache, cache_bytes, device));
  facts.cache = {cache};
  check(driver, driver.device_attribute(&facts.copy_engines, copy_engine_count, device));
  std::size_t memory = 0;
  check(driver, driver.device_memory(&memory, device));
  facts.memory = {static_cast<std::int64_t>(memory)};
  return facts;
}

/// The file with this kernel: "elements.cu".
const SourceText& file_with(std::string_view kernel) {
  const std::string definition = fmt::format("{}(const ", kernel);
  const auto found = std::ranges::find_if(kernel_texts(), [&](const SourceText& file) {
    return file.text.find(definition) != std::string::npos;
  });
  assert(found != kernel_texts().end());
  return *found;
}

/// Whatever the machine code depends on.
std::string key_of(const SourceText& file, const Compiler& compiler, const GpuFacts& facts) {
  Hasher hasher;
  hasher.add(file.text).add(compiler.version()).add(facts.major).add(facts.minor);
  for (const SourceText& header : kernel_headers()) hasher.add(header.text);
  return hasher.digits();
}

std::vector<char> machine_code(const Platform& platform, const SourceText& file,
                               const GpuFacts& facts) {
  const std::string key = key_of(file, platform.compiler, facts);
  if (platform.compiled)
    if (const std::optional<Stored> found = platform.compiled->find(key)) {
      const auto* begin = reinterpret_cast<const char*>(found->bytes.data());
      return {begin, begin + found->bytes.size()};
    }
  std::vector<char> code =
      platform.compiler.compile(file, kernel_headers(), facts.major, facts.minor);
  if (platform.compiled) platform.compiled->keep(key, std::as_bytes(std::span(code)));
  return code;
}

}  // namespace

std::vector<GpuFacts> find_gpus(const Driver& driver) {
  int count = 0;
  check(driver, driver.device_count(&count));
  std::vector<GpuFacts> gpus;
  for (int i = 0; i < count; ++i) {
    Device device = 0;
    check(driver, driver.device_at(&device, i));
    gpus.push_back(facts_of(driver, device));
  }
  return gpus;
}

Gpu::Gpu(std::shared_ptr<const Platform> platform, int index) : platform_(std::move(platform)) {
  Device device = 0;
  check(driver(), driver().device_at(&device, index));
  facts_ = facts_of(driver(), device);
  // Only before the context is made; what others set in this process stays.
  driver().set_context_flags(device, platform_->settings.spins ? wait_spinning : wait_asleep);
  check(driver(), driver().retain_context(&context_, device));
}

/// Members free their objects in its context.
Gpu::~Gpu() {
  try {
    use();
    for (const auto& [file, loaded] : modules_)
      if (loaded != nullptr) driver().unload_module(loaded);
  } catch (const EngineError&) {
    // The driver is gone, and what it held with it.
  }
}

void Gpu::use() const { check(driver(), driver().set_context(context_)); }

FunctionObject* Gpu::kernel(const std::string& name) {
  FunctionObject* function = nullptr;
  check(driver(), driver().function_of(&function, module_of(name), name.c_str()));
  return function;
}

ModuleObject* Gpu::module_of(std::string_view kernel) {
  const SourceText& file = file_with(kernel);
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = modules_.try_emplace(file.name, nullptr);
  if (at->second == nullptr) {
    const std::vector<char> code = machine_code(*platform_, file, facts_);
    check(driver(), driver().load_module(&at->second, code.data()));
  }
  return at->second;
}

std::shared_ptr<const DeviceMemory> Gpu::constant(const Digest& digest,
                                                  std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<const DeviceMemory>& known = constants_[digest];
  if (auto memory = known.lock()) return memory;
  auto memory =
      std::make_shared<DeviceMemory>(driver(), Bytes{static_cast<std::int64_t>(bytes.size())});
  if (!bytes.empty())
    check(driver(), driver().copy_in(memory->address(), bytes.data(), bytes.size()));
  // Streams of subnets do not wait for copies from ordinary memory by themselves.
  check(driver(), driver().wait_for_stream(nullptr));
  known = memory;
  return memory;
}

template <class Library>
Library* Gpu::loaded(Loadable<Library>& library, bool wanted) {
  const std::lock_guard lock(mutex_);
  if (wanted && !std::exchange(library.asked, true)) {
    try {
      library.loaded.emplace(platform_->folders);
    } catch (const EngineError&) {
      // Our own kernels do it.
    }
  }
  return library.loaded ? &*library.loaded : nullptr;
}

Convolutions* Gpu::convolutions() { return loaded(convolutions_, platform_->settings.cudnn); }

Products* Gpu::products() { return loaded(products_, platform_->settings.cublas); }

std::vector<std::shared_ptr<const PreparedConvolution>> Gpu::ways(
    const ConvolutionProblem& problem) {
  Convolutions* const library = convolutions();
  if (library == nullptr) return {};
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = convolution_ways_.try_emplace(problem);
  if (is_new) at->second = library->prepare(problem, most_ways, most_workspace);
  return at->second;
}

std::vector<std::shared_ptr<PreparedProduct>> Gpu::ways(const ProductProblem& problem) {
  Products* const library = products();
  if (library == nullptr) return {};
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = product_ways_.try_emplace(problem);
  if (is_new) at->second = library->prepare(problem, most_ways, most_workspace);
  return at->second;
}

std::shared_ptr<const PreparedConvolution> Gpu::way(const ConvolutionProblem& problem,
                                                    const std::string& kernel) {
  Convolutions* const library = convolutions();
  if (library == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = known_ways_.try_emplace({problem, kernel});
  if (is_new) at->second = library->prepare(problem, kernel);
  return at->second;
}

/// The file of a choice that was made for such a GPU with such libraries.
std::string Gpu::file_of_choice(const std::string& key) {
  int driver_version = 0;
  check(driver(), driver().driver_version(&driver_version));
  Hasher hasher;
  hasher.add(facts_.name).add(driver_version).add(platform_->compiler.version()).add(key);
  hasher.add(platform_->libraries);
  for (const SourceText& file : kernel_texts()) hasher.add(file.text);
  return "choice-" + hasher.digits();
}

std::optional<std::string> Gpu::choice(const std::string& key) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = choices_.find(key); known != choices_.end()) return known->second;
  }
  if (!platform_->compiled) return std::nullopt;
  const std::optional<Stored> found = platform_->compiled->find(file_of_choice(key));
  if (!found) return std::nullopt;
  const std::string name(reinterpret_cast<const char*>(found->bytes.data()), found->bytes.size());
  const std::lock_guard lock(mutex_);
  return choices_.try_emplace(key, name).first->second;
}

void Gpu::remember(const std::string& key, const std::string& name) {
  {
    const std::lock_guard lock(mutex_);
    choices_[key] = name;
  }
  if (platform_->compiled)
    platform_->compiled->keep(file_of_choice(key), std::as_bytes(std::span(name)));
}

}  // namespace millrace::engine::cuda
