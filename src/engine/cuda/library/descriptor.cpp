#include "engine/cuda/library/descriptor.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "engine/cuda/library/convolutions.h"
#include "engine/cuda/library/shared_library.h"

namespace millrace::engine::cuda {
namespace {

constexpr int dnn_success = 0;

DnnInterface find_dnn(const SharedLibrary& library) {
  DnnInterface functions{};
  library.find("cudnnGetVersion", functions.version);
  library.find("cudnnGetErrorString", functions.error_text);
  if (library.has("cudnnGetLastErrorString"))
    library.find("cudnnGetLastErrorString", functions.last_error);
  library.find("cudnnCreate", functions.create);
  library.find("cudnnDestroy", functions.destroy);
  library.find("cudnnSetStream", functions.set_stream);
  library.find("cudnnBackendCreateDescriptor", functions.create_descriptor);
  library.find("cudnnBackendDestroyDescriptor", functions.destroy_descriptor);
  library.find("cudnnBackendFinalize", functions.finalize);
  library.find("cudnnBackendSetAttribute", functions.set_attribute);
  library.find("cudnnBackendGetAttribute", functions.get_attribute);
  library.find("cudnnBackendExecute", functions.execute);
  return functions;
}

/// cuDNN ends the process where it cannot load cuBLAS; one that is loaded here is found there. It
/// may lie where NVIDIA's packages for Python put it, beside cuDNN.
void load_cublas(const SharedLibrary& library, std::span<const std::filesystem::path> folders) {
  std::size_t (*runtime_version)() = nullptr;
  library.find("cudnnGetCudartVersion", runtime_version);
  const std::size_t major = runtime_version() / 1000;
  std::vector<std::filesystem::path> places(folders.begin(), folders.end());
  Dl_info found{};
  if (::dladdr(reinterpret_cast<void*>(runtime_version), &found) != 0) {
    const std::filesystem::path folder = std::filesystem::path(found.dli_fname).parent_path();
    places.insert(places.end(), {folder, folder / "../../cublas/lib",
                                 folder / fmt::format("../../cu{}/lib", major)});
  }
  const SharedLibrary cublas(places, {fmt::format("libcublasLt.so.{}", major)});
}

std::string last_error(const DnnInterface& functions) {
  if (functions.last_error == nullptr) return {};
  std::array<char, 1024> buffer{};
  functions.last_error(buffer.data(), buffer.size() - 1);
  std::string text = buffer.data();
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

Dnn::Dnn(std::span<const std::filesystem::path> folders) {
  const SharedLibrary library(folders, convolution_libraries());
  functions_ = find_dnn(library);
  if (functions_.version() < dnn::first_version)
    throw EngineError(fmt::format("{} is cuDNN of version number {}, expected at least {}",
                                  library.path().string(), functions_.version(),
                                  dnn::first_version));
  load_cublas(library, folders);
  check(functions_.create(&handle_));
}

Dnn::~Dnn() { functions_.destroy(handle_); }

void Dnn::check(int status) const {
  if (status == dnn_success) return;
  const char* const name = functions_.error_text(status);
  const std::string why = last_error(functions_);
  throw EngineError(fmt::format("cuDNN reports '{}'{}{}", name == nullptr ? "unknown error" : name,
                                why.empty() ? "" : ": ", why));
}

Descriptor::Descriptor(const Dnn& library, dnn::Kind kind) : dnn_(&library) {
  library.check(library.functions().create_descriptor(kind, &object_));
}

Descriptor::~Descriptor() {
  if (object_ != nullptr) dnn_->functions().destroy_descriptor(object_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : dnn_(other.dnn_), object_(std::exchange(other.object_, nullptr)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(dnn_, other.dnn_);
  std::swap(object_, other.object_);
  return *this;
}

void Descriptor::set(dnn::Attribute attribute, dnn::Type type, std::size_t count,
                     const void* values) {
  dnn_->check(dnn_->functions().set_attribute(object_, attribute, type,
                                              static_cast<std::int64_t>(count), values));
}

void Descriptor::set_choice(dnn::Attribute attribute, dnn::Type type, int value) {
  set(attribute, type, 1, &value);
}

void Descriptor::set_integers(dnn::Attribute attribute, std::span<const std::int64_t> values) {
  set(attribute, dnn::int64_type, values.size(), values.data());
}

void Descriptor::set_integer(dnn::Attribute attribute, std::int64_t value) {
  set(attribute, dnn::int64_type, 1, &value);
}

void Descriptor::set_number(dnn::Attribute attribute, float value) {
  set(attribute, dnn::float_type, 1, &value);
}

void Descriptor::set_flag(dnn::Attribute attribute, bool value) {
  static_assert(sizeof(bool) == 1, "cuDNN takes a boolean of one byte");
  set(attribute, dnn::boolean_type, 1, &value);
}

void Descriptor::set_pointers(dnn::Attribute attribute, std::span<void* const> values) {
  set(attribute, dnn::pointer_type, values.size(), values.data());
}

void Descriptor::set_descriptors(dnn::Attribute attribute, std::span<const DnnDescriptor> values) {
  set(attribute, dnn::descriptor_type, values.size(), values.data());
}

void Descriptor::set_descriptor(dnn::Attribute attribute, DnnDescriptor value) {
  set(attribute, dnn::descriptor_type, 1, &value);
}

void Descriptor::set_handle(dnn::Attribute attribute) {
  const DnnHandle handle = dnn_->handle();
  set(attribute, dnn::handle_type, 1, &handle);
}

void Descriptor::finalize() { dnn_->check(dnn_->functions().finalize(object_)); }

bool Descriptor::finalized() { return dnn_->functions().finalize(object_) == dnn_success; }

std::optional<std::int64_t> Descriptor::integer(dnn::Attribute attribute) const {
  std::int64_t count = 0, value = 0;
  const int status =
      dnn_->functions().get_attribute(object_, attribute, dnn::int64_type, 1, &count, &value);
  if (status != dnn_success || count != 1) return std::nullopt;
  return value;
}

std::optional<std::vector<int>> Descriptor::choices(dnn::Attribute attribute, dnn::Type type,
                                                    std::size_t most) const {
  std::vector<int> values(most);
  std::int64_t count = 0;
  const int status = dnn_->functions().get_attribute(
      object_, attribute, type, static_cast<std::int64_t>(most), &count, values.data());
  if (status != dnn_success || count < 0) return std::nullopt;
  values.resize(std::min(most, static_cast<std::size_t>(count)));
  return values;
}

std::size_t Descriptor::count_of_descriptors(dnn::Attribute attribute) const {
  std::int64_t count = 0;
  const int status =
      dnn_->functions().get_attribute(object_, attribute, dnn::descriptor_type, 0, &count, nullptr);
  return status == dnn_success && count > 0 ? static_cast<std::size_t>(count) : 0;
}

std::vector<Descriptor> Descriptor::descriptors(dnn::Attribute attribute, dnn::Kind kind,
                                                std::size_t most) const {
  // cuDNN fills descriptors that the caller has created.
  std::vector<Descriptor> result;
  std::vector<DnnDescriptor> objects;
  for (std::size_t i = 0; i < most; ++i) objects.push_back(result.emplace_back(*dnn_, kind).get());
  std::int64_t count = 0;
  const int status =
      dnn_->functions().get_attribute(object_, attribute, dnn::descriptor_type,
                                      static_cast<std::int64_t>(most), &count, objects.data());
  const std::int64_t filled = status == dnn_success ? std::max<std::int64_t>(count, 0) : 0;
  while (result.size() > static_cast<std::size_t>(filled)) result.pop_back();
  return result;
}

}  // namespace millrace::engine::cuda
