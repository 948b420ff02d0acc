#pragma once
// Rockchip's librknnrt.so, loaded when the engine is opened. Its functions and structures are
// declared as far as they are used, in the order and sizes of its public interface, version 2.
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

namespace millrace_rknn {

using RknnContext = std::uint64_t;  // 64-bit systems alone

enum Query : std::int32_t {
  query_counts = 0, query_input = 1, query_output = 2, query_version = 5, query_memory = 6
};
enum ElementType : std::int32_t { element_float32 = 0 };
enum Order : std::int32_t { channels_first = 0, channels_last = 1, no_order = 3 };

/// Answer of query_counts.
struct Counts {
  std::uint32_t inputs, outputs;
};

/// Answer of query_input and query_output; the number of the tensor is given.
struct TensorAttributes {
  std::uint32_t number;
  std::uint32_t rank;
  std::array<std::uint32_t, 16> shape;
  std::array<char, 256> name;
  std::uint32_t elements, bytes;
  std::int32_t order, element_type, quantisation;
  std::int8_t fraction_bits;
  std::int32_t zero_point;
  float scale;
  std::uint32_t row_stride, strided_bytes;
  std::uint8_t is_passed_through;
  std::uint32_t column_stride;
};
static_assert(sizeof(TensorAttributes) == 376);

/// Answer of query_version.
struct Versions {
  std::array<char, 256> library, driver;
};

/// Answer of query_memory, in bytes.
struct MemoryInfo {
  std::uint32_t weights, between_layers;
  std::uint64_t all;
  std::uint32_t sram, free_sram;
  std::array<std::uint32_t, 10> unused;
};
static_assert(sizeof(MemoryInfo) == 64);

struct GivenInput {
  std::uint32_t number;
  void* values;
  std::uint32_t bytes;
  std::uint8_t is_passed_through;  // 0: the library converts
  std::int32_t element_type, order;
};
static_assert(sizeof(GivenInput) == 32);

struct TakenOutput {
  std::uint8_t as_float, is_ours;  // is_ours: `values` is memory of the caller
  std::uint32_t number;
  void* values;
  std::uint32_t bytes;
};
static_assert(sizeof(TakenOutput) == 24);

/// All return 0, or a negative number.
struct Functions {
  int (*init)(RknnContext*, void* model, std::uint32_t bytes, std::uint32_t flags, void*) = nullptr;
  int (*destroy)(RknnContext) = nullptr;
  int (*query)(RknnContext, std::int32_t, void*, std::uint32_t) = nullptr;
  int (*set_inputs)(RknnContext, std::uint32_t, GivenInput*) = nullptr;
  int (*run)(RknnContext, void*) = nullptr;
  int (*get_outputs)(RknnContext, std::uint32_t, TakenOutput*, void*) = nullptr;
  int (*release_outputs)(RknnContext, std::uint32_t, TakenOutput*) = nullptr;
  int (*set_cores)(RknnContext, std::int32_t mask) = nullptr;  // null: a library for one core
};

struct Runtime {
  std::filesystem::path path;
  std::string version;  // "2.5.0"; empty: it is not there
  std::string reason;   // why not
  Functions functions;
};

/// The named file, else the first of the usual places. It stays loaded.
Runtime find_runtime(const std::filesystem::path& named);

/// What a negative number of a function means.
std::string meaning_of(int code);

}  // namespace millrace_rknn
