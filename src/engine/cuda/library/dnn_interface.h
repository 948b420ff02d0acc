#pragma once
// The functions of cuDNN 9 (libcudnn.so.9) that describe and run graphs of operations, as far as
// they are used here. The numbers are those of cudnn_graph.h; they stay the same in all of 9.x.
#include <cstddef>
#include <cstdint>

#include "engine/cuda/library/driver.h"

namespace millrace::engine::cuda {

struct DnnHandleObject;
using DnnHandle = DnnHandleObject*;
using DnnDescriptor = void*;

struct DnnInterface {
  std::size_t (*version)();
  const char* (*error_text)(int status);
  /// Null where the library has none.
  void (*last_error)(char* text, std::size_t size);

  int (*create)(DnnHandle*);
  int (*destroy)(DnnHandle);
  int (*set_stream)(DnnHandle, Stream);

  int (*create_descriptor)(int kind, DnnDescriptor*);
  int (*destroy_descriptor)(DnnDescriptor);
  int (*finalize)(DnnDescriptor);
  int (*set_attribute)(DnnDescriptor, int attribute, int type, std::int64_t count,
                       const void* values);
  int (*get_attribute)(DnnDescriptor, int attribute, int type, std::int64_t most,
                       std::int64_t* count, void* values);
  int (*execute)(DnnHandle, DnnDescriptor plan, DnnDescriptor variant_pack);
};

namespace dnn {

/// Versions as numbers: major * 10000 + minor * 100 + patch.
constexpr std::size_t first_version = 90000;
constexpr std::size_t graph_retention_version = 92800;

enum Kind : int {
  pointwise_descriptor = 0,
  convolution_descriptor = 1,
  engine_descriptor = 2,
  engine_config_descriptor = 3,
  heuristics_descriptor = 4,
  plan_descriptor = 5,
  knob_choice_descriptor = 7,
  convolution_forward_descriptor = 10,
  pointwise_operation_descriptor = 13,
  operation_graph_descriptor = 15,
  variant_pack_descriptor = 16,
  tensor_descriptor = 17,
};

/// Types of the values of an attribute.
enum Type : int {
  handle_type = 0,
  data_type_type = 1,
  boolean_type = 2,
  int64_type = 3,
  float_type = 4,
  pointer_type = 6,
  convolution_mode_type = 7,
  heuristic_mode_type = 8,
  knob_type_type = 9,
  numerical_note_type = 11,
  pointwise_mode_type = 14,
  descriptor_type = 15,
  graph_retention_type = 33,
};

enum Attribute : int {
  pointwise_mode = 0,
  pointwise_precision = 1,

  convolution_compute_type = 100,
  convolution_mode = 101,
  convolution_dilations = 102,
  convolution_strides = 103,
  convolution_post_paddings = 104,
  convolution_pre_paddings = 105,
  convolution_spatial_dimensions = 106,

  heuristics_mode = 200,
  heuristics_graph = 201,
  heuristics_results = 202,

  config_engine = 300,
  config_knob_choices = 302,

  plan_handle = 400,
  plan_engine_config = 401,
  plan_workspace_size = 402,
  plan_graph_retention = 408,

  knob_choice_type = 600,
  knob_choice_value = 601,

  forward_alpha = 700,
  forward_beta = 701,
  forward_convolution = 702,
  forward_w = 703,
  forward_x = 704,
  forward_y = 705,

  operation_pointwise = 750,
  operation_x = 751,
  operation_b = 752,
  operation_y = 753,
  operation_alpha1 = 754,
  operation_alpha2 = 755,

  graph_handle = 800,
  graph_operations = 801,

  tensor_alignment = 900,
  tensor_data_type = 901,
  tensor_dimensions = 902,
  tensor_strides = 903,
  tensor_unique_id = 906,
  tensor_is_virtual = 907,

  variant_unique_ids = 1000,
  variant_pointers = 1001,
  variant_workspace = 1003,

  engine_operation_graph = 1300,
  engine_global_index = 1301,
  engine_numerical_note = 1303,
};

enum DataType : int { float32 = 0, float16 = 2 };
enum ConvolutionMode : int { cross_correlation = 1 };
enum PointwiseMode : int { add = 0, relu_forward = 100 };
enum HeuristicMode : int { heuristic_fallback = 2, heuristic_a = 3 };
enum GraphRetention : int { retain_nothing = 1 };

/// What an engine says of its results.
enum NumericalNote : int {
  tensor_core = 0,
  down_convert_inputs = 1,
  reduced_precision_reduction = 2,
  fft = 3,
  nondeterministic = 4,
  winograd = 5,
  winograd_tile_4x4 = 6,
  winograd_tile_6x6 = 7,
  winograd_tile_13x13 = 8,
};
/// How many kinds there are: as many as one engine or configuration has at most.
constexpr std::size_t numerical_note_kinds = 10;
constexpr std::size_t knob_kinds = 46;

}  // namespace dnn
}  // namespace millrace::engine::cuda
