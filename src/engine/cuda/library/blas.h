#pragma once
// cuBLASLt's C interface, as far as it is used here: what its versions 11, 12 and 13 have in
// common. The library makes the descriptions itself, because their sizes differ between the
// versions. Its matrices are stored column by column.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "engine/cuda/library/driver.h"

namespace millrace::engine::cuda::blas {

// Objects of the library.
struct Context;
struct Operation;
struct Layout;
struct Preference;

enum Type : int { type_float32 = 0, type_float16 = 2 };
enum Arithmetic : int { arithmetic_float32 = 68, arithmetic_tensor_float32 = 77 };
enum Property : int { major_version = 0, minor_version = 1, patch_level = 2 };
enum Refusal : int { invalid_value = 7, other_architecture = 8, not_supported = 15 };

// An attribute is set with a value of exactly the type that stands beside it.
enum LayoutAttribute : int {
  layout_batch = 5,        // std::int32_t
  layout_batch_stride = 6  // std::int64_t, in elements
};
enum OperationAttribute : int {
  operation_transpose_first = 3,   // std::int32_t
  operation_transpose_second = 4,  // std::int32_t
  operation_epilogue = 7,          // std::uint32_t, EpilogueFlags
  operation_bias = 8               // const void*
};
enum PreferenceAttribute : int {
  preference_workspace = 1,        // std::uint64_t, at most so many bytes
  preference_reductions = 3,       // std::uint32_t, ReductionFlags
  preference_first_alignment = 5,  // std::uint32_t, in bytes; so the three after it
  preference_second_alignment = 6,
  preference_added_alignment = 7,
  preference_result_alignment = 8,
  preference_epilogue = 11  // std::uint32_t, EpilogueFlags; in version 11 only
};
enum AlgorithmAttribute : int {
  algorithm_number = 0,  // std::int32_t
  algorithm_tile = 1,    // std::uint32_t
  algorithm_parts = 2,   // std::int32_t, of the depth
  algorithm_stages = 6,  // std::uint32_t
  algorithm_cluster = 8  // std::uint16_t; since version 11.8
};
enum EpilogueFlags : std::uint32_t { epilogue_none = 1, epilogue_relu = 2, epilogue_bias = 4 };
/// How the parts of a depth are added up. Not split is always allowed.
enum ReductionFlags : std::uint32_t { reduce_in_arithmetic_type = 2, reduce_in_result_type = 4 };

struct Algorithm {
  std::uint64_t data[8];
};
struct Proposal {
  Algorithm algorithm;
  std::size_t workspace;
  int status;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Proposal) == 96);

template <class Object>
using SetAttribute = int (*)(Object*, int attribute, const void* value, std::size_t size);

struct Api {
  int (*create)(Context**);
  int (*destroy)(Context*);
  int (*property)(int property, int*);
  const char* (*status_text)(int);  // null before version 11.4

  int (*create_layout)(Layout**, int type, std::uint64_t rows, std::uint64_t columns,
                       std::int64_t column_stride);
  int (*destroy_layout)(Layout*);
  SetAttribute<Layout> set_layout;

  int (*create_operation)(Operation**, int arithmetic, int scale_type);
  int (*destroy_operation)(Operation*);
  SetAttribute<Operation> set_operation;

  int (*create_preference)(Preference**);
  int (*destroy_preference)(Preference*);
  SetAttribute<Preference> set_preference;

  int (*propose)(Context*, Operation*, Layout* first, Layout* second, Layout* added, Layout* result,
                 Preference*, int most, Proposal*, int* count);
  int (*get_algorithm)(const Algorithm*, int attribute, void* value, std::size_t size,
                       std::size_t* written);
  /// result = epilogue(alpha * first * second + beta * added); alpha and beta in the host's memory.
  int (*multiply)(Context*, Operation*, const void* alpha, const void* first, Layout*,
                  const void* second, Layout*, const void* beta, const void* added, Layout*,
                  void* result, Layout*, const Algorithm*, void* workspace,
                  std::size_t workspace_size, Stream);
};

/// EngineError with what the library said, if the call failed.
void check(const Api& api, int status);

/// An object of the library, destroyed when it goes.
template <class Object>
using Handle = std::unique_ptr<Object, int (*)(Object*)>;

/// What `create(Object**, arguments...)` makes.
template <class Object, class Create, class... Arguments>
Handle<Object> made(const Api& api, int (*destroy)(Object*), Create create,
                    Arguments... arguments) {
  Object* object = nullptr;
  check(api, create(&object, arguments...));
  return Handle<Object>(object, destroy);
}

template <class Value>
void set(const Api& api, Layout& layout, LayoutAttribute attribute, Value value) {
  check(api, api.set_layout(&layout, attribute, &value, sizeof value));
}
template <class Value>
void set(const Api& api, Operation& operation, OperationAttribute attribute, Value value) {
  check(api, api.set_operation(&operation, attribute, &value, sizeof value));
}
template <class Value>
void set(const Api& api, Preference& preference, PreferenceAttribute attribute, Value value) {
  check(api, api.set_preference(&preference, attribute, &value, sizeof value));
}

/// The loaded library, for the GPU whose context is current on this thread.
struct Library {
  explicit Library(std::span<const std::filesystem::path> folders);

  Api api;
  Handle<Context> context;
  int major = 0;
  std::string version;  // "13.1.0"
};

}  // namespace millrace::engine::cuda::blas
