#pragma once
// cuDNN as it was loaded, and the descriptors that its graphs are made of. A descriptor is created,
// given attributes, finalized, and then only read or named by other descriptors.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/library/dnn_interface.h"

namespace millrace::engine::cuda {

/// The library with one handle, of the context that was current where it was made. The lock is held
/// by whoever uses the handle: cuDNN does not share one between threads.
class Dnn {
 public:
  /// EngineError if the library is missing, is not of version 9, or has no handle for the device.
  explicit Dnn(std::span<const std::filesystem::path> folders);
  ~Dnn();
  Dnn(const Dnn&) = delete;
  Dnn& operator=(const Dnn&) = delete;

  const DnnInterface& functions() const { return functions_; }
  DnnHandle handle() const { return handle_; }
  std::mutex& lock() const { return lock_; }
  /// EngineError with cuDNN's own words, if the call failed.
  void check(int status) const;

 private:
  DnnInterface functions_{};
  DnnHandle handle_ = nullptr;
  mutable std::mutex lock_;
};

/// Frees itself. The library must live longer. EngineError where cuDNN refuses a call, unless the
/// function says otherwise.
class Descriptor {
 public:
  Descriptor(const Dnn& library, dnn::Kind kind);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  DnnDescriptor get() const { return object_; }

  /// An enumeration value: cuDNN's enumerations have 4 bytes.
  void set_choice(dnn::Attribute attribute, dnn::Type type, int value);
  void set_integers(dnn::Attribute attribute, std::span<const std::int64_t> values);
  void set_integer(dnn::Attribute attribute, std::int64_t value);
  void set_number(dnn::Attribute attribute, float value);
  void set_flag(dnn::Attribute attribute, bool value);
  void set_pointers(dnn::Attribute attribute, std::span<void* const> values);
  void set_descriptors(dnn::Attribute attribute, std::span<const DnnDescriptor> values);
  void set_descriptor(dnn::Attribute attribute, DnnDescriptor value);
  void set_handle(dnn::Attribute attribute);

  void finalize();
  /// Whether cuDNN accepts it: it refuses what it does not support only here.
  bool finalized();

  // Attributes of a finalized one; nothing if cuDNN does not tell.
  std::optional<std::int64_t> integer(dnn::Attribute attribute) const;
  std::optional<std::vector<int>> choices(dnn::Attribute attribute, dnn::Type type,
                                          std::size_t most) const;
  std::size_t count_of_descriptors(dnn::Attribute attribute) const;
  /// At most `most`, which are of this kind.
  std::vector<Descriptor> descriptors(dnn::Attribute attribute, dnn::Kind kind,
                                      std::size_t most) const;

 private:
  void set(dnn::Attribute attribute, dnn::Type type, std::size_t count, const void* values);

  const Dnn* dnn_;
  DnnDescriptor object_ = nullptr;
};

}  // namespace millrace::engine::cuda
