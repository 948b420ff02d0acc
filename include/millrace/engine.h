#pragma once
/* Engines as plug-ins: a shared library that runs parts of networks on a device. It includes this
   file alone and exports millrace_engine(). docs/methods/plug-ins.md has a whole one. A call takes
   one structure, whose size comes first; the plug-in fills in what follows the word "answer". It
   returns 0, or another number and one sentence in `text`. What is handed over is borrowed until
   the call returns, unless a comment says more. Any thread calls; a program is used by one thread
   at a time, several programs run in parallel. Later versions append to the table and to structures
   that come with their size; what a host does not know of them it passes over. */
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

enum { millrace_engine_version = 2, millrace_text_size = 1024 };
enum { millrace_done, millrace_failed, millrace_bad_option }; /* the last one: of open() alone */
/* ONNX's numbers of element types. */
typedef enum MillraceType {
  millrace_float32 = 1, millrace_uint8 = 2, millrace_int8 = 3, millrace_uint16 = 4,
  millrace_int16 = 5, millrace_int32 = 6, millrace_int64 = 7, millrace_boolean = 9,
  millrace_float16 = 10, millrace_float64 = 11, millrace_uint32 = 12, millrace_uint64 = 13
} MillraceType;
/* In what a layer computes. A device has the bits (1 << precision) of those that it offers. */
typedef enum MillracePrecision {
  millrace_f32 = 0, millrace_f16 = 1, millrace_bf16 = 2, millrace_int8_products = 3
} MillracePrecision;
typedef struct MillraceTensor {
  const char* name;
  int32_t type, rank;   /* MillraceType, 0: not known; -1: the shape is not known */
  const int64_t* shape; /* outermost dimension first */
  const void* data;     /* of a constant: dense, row-major, aligned to 64 bytes; else null */
  size_t bytes;         /* dense */
  float low, high;      /* between which its values lie; both 0: not known */
  int32_t is_external;  /* a constant whose values are not in the ONNX bytes */
} MillraceTensor;
/* It has integers, reals, or a text; an array of numbers has all its values here. */
typedef struct MillraceAttribute {
  const char* name;
  const int64_t* integers;
  const float* reals;
  size_t integer_count, real_count;
  const char* text; /* null: none */
} MillraceAttribute;
/* A node of the ONNX graph, by ONNX's names: "Conv", "com.microsoft.Gelu". */
typedef struct MillraceNode {
  const char *op, *name; /* "#3#conv1" belongs to layer 3: nodes that an SDK makes of it say so */
  size_t layer;     /* a layer may be several nodes */
  const int32_t *inputs, *outputs; /* indices of tensors; -1: left out */
  const MillraceAttribute* attributes;
  size_t input_count, output_count, attribute_count;
} MillraceNode;
/* The MillracePrecision is the one that it is to run in. */
typedef struct MillraceLayer { const char* name; int32_t precision; } MillraceLayer;
/* What is to run in one piece, twice: as nodes, and as the bytes of an ONNX model of the same
   nodes, tensors and names. Nodes stand in an order in which they can run. */
typedef struct MillraceSubnet {
  size_t size;
  const void* onnx; /* null: the plug-in asked for none */
  const MillraceTensor* tensors;
  const MillraceNode* nodes;
  const MillraceLayer* layers;
  const int32_t *inputs, *outputs; /* indices of tensors */
  size_t onnx_bytes, tensor_count, node_count, layer_count, input_count, output_count;
} MillraceSubnet;
/* Light: constants above 1 KiB are external: each at the next multiple of 64 bytes of "weights". */
typedef enum MillraceOnnx { millrace_no_onnx, millrace_light_onnx, millrace_all_onnx } MillraceOnnx;
typedef enum MillraceKind { millrace_cores = 0, millrace_gpu = 1, millrace_npu = 2 } MillraceKind;
typedef struct MillraceDevice {
  const char* name;  /* of the processor: "npu0"; of cores: "cpu" */
  const char* model; /* "RK3588 NPU"; a blob is for one model */
  int32_t kind;      /* MillraceKind; cores: those of the host that load() is given */
  uint32_t precisions;
  int32_t times_layers; /* run() can tell the time of each layer; 0: only of the whole */
  int32_t needs_thread; /* the thread that calls run() computes or spins; 0: it sleeps */
  int32_t serialised;   /* its programs wait for each other */
  int32_t is_absent;    /* it compiles for this device, which is not here */
  const char* const* spaces; /* in which run() reads and writes, the best first; none: "host" */
  size_t space_count;
  const char* driver;  /* for people; null: the table's sdk */
  int32_t joins;       /* layers that run alone run in one piece too; can_run() gets each alone */
  int32_t copies;      /* transfer() goes on beside run(): it has engines for copies */
  int32_t signals;     /* run() may return early and call done() later */
} MillraceDevice;
/* Why a subnet cannot run; `node` is the first one that is to blame. */
typedef enum MillraceReason {
  millrace_runs = 0, millrace_no_operator = 1, millrace_no_attribute = 2, millrace_no_type = 3,
  millrace_no_shape = 4, millrace_no_precision = 5, millrace_no_memory = 6,
  millrace_not_together = 7
} MillraceReason;
typedef struct MillraceInstance MillraceInstance; /* the plug-in's own */
typedef struct MillraceProgram MillraceProgram;   /* a subnet that is ready to run */
typedef struct MillraceOption { const char *key, *value; } MillraceOption;
typedef struct MillraceOpening {
  size_t size;
  const MillraceOption* options; /* the user's */
  size_t option_count;
  const char* cache_folder; /* where it may keep files; null: nowhere */
  const char* library;      /* that of the SDK, as the user names it; null: look for it */
  const char* const* package_folders; /* of Python, in which many SDKs come */
  size_t package_folder_count;
  MillraceInstance* instance; /* answer */
  const MillraceDevice* devices; /* live as long as the instance */
  size_t device_count;
  const char* sdk; /* lives as long as the instance; null: the table's */
  char text[millrace_text_size];
} MillraceOpening;
typedef struct MillraceQuestion {
  size_t size, device;
  const MillraceSubnet* subnet;
  int32_t reason; /* answer: MillraceReason */
  size_t node;
  char text[millrace_text_size]; /* half a sentence for people, unless it runs */
} MillraceQuestion;
typedef struct MillraceCompilation {
  size_t size, device;
  const MillraceSubnet* subnet;
  /* Called from time to time with a share of 1; stop with a failure if it gives not 0. */
  int32_t (*progress)(void* user, double share);
  void* user;
  void* blob; /* answer, given back with free_blob() */
  size_t blob_bytes;
  char text[millrace_text_size];
} MillraceCompilation;
enum { millrace_size_stated, millrace_size_tried, millrace_size_varies }; /* how a size was found */
typedef struct MillraceLoading {
  size_t size, device;
  const void* blob; /* null: the plug-in does not compile, but gets the subnet */
  size_t blob_bytes;
  const MillraceSubnet* subnet; /* null if there is a blob; else lives as long as the program */
  const int32_t* cores;         /* that it may use, if the device is cores */
  size_t core_count;
  MillraceProgram* program; /* answer */
  const MillraceTensor* outputs; /* as it will write them; live as long as the program */
  size_t output_count;
  size_t weight_bytes, working_bytes; /* that the program holds */
  char text[millrace_text_size];
  const int32_t* sizes; /* by output of type 0 and rank -1, how found; such a program never runs */
} MillraceLoading;
typedef struct MillraceBuffer {
  void* handle; /* in "host" an address; else the plug-in's own */
  size_t bytes;
  const char* space;
  size_t device;      /* that uses it */
  int32_t descriptor; /* of import_buffer(): a dma-buf; -1: `handle` is an address of the host */
} MillraceBuffer;
/* Layers that ran as one have the same `group`, the first one's number; it has their time. */
typedef struct MillraceLayerTime {
  size_t group;
  int64_t nanoseconds;
  const char* kernel; /* what ran; null: not known. Lives as long as the program */
} MillraceLayerTime;
typedef struct MillraceRun {
  size_t size;
  const MillraceBuffer *inputs, *outputs;
  MillraceLayerTime* times;      /* one for each layer of the subnet; null: nobody asks */
  /* Null: run() blocks. Else a run that succeeds calls it once, from any thread, even before run()
     returns; `failed` is what run() would have returned. The structures live until then. */
  void (*done)(void* user, int32_t failed);
  void* user;
  char text[millrace_text_size]; /* answer */
} MillraceRun;
typedef struct MillraceMove {
  size_t size;
  const MillraceBuffer *from, *to; /* as of transfer() */
  const MillraceTensor* tensor;
  char text[millrace_text_size]; /* answer */
} MillraceMove;
typedef struct MillraceEngine {
  uint32_t version; /* millrace_engine_version that it was built with */
  size_t size;      /* of this table */
  const char* name; /* of the engine: letters, digits and "_" */
  const char* sdk;  /* version of what computes; other blobs are refused */
  int32_t onnx;     /* MillraceOnnx */
  int32_t (*open)(MillraceOpening* opening);
  void (*close)(MillraceInstance* instance); /* null: nothing to close */
  int32_t (*can_run)(MillraceInstance* instance, MillraceQuestion* question);
  int32_t (*load)(MillraceInstance* instance, MillraceLoading* loading);
  /* Blocks until the outputs are written, unless done() says so. */
  int32_t (*run)(MillraceProgram* program, MillraceRun* run);
  void (*unload)(MillraceProgram* program);
  int32_t (*compile)(MillraceInstance* instance, MillraceCompilation* compilation); /* or null */
  void (*free_blob)(void* blob);
  /* Null if all devices have the space "host". allocate() and import_buffer() fill in `handle`;
     transfer() copies `bytes` of `to`, and one of the two is in "host". */
  int32_t (*allocate)(MillraceInstance* instance, MillraceBuffer* buffer);
  int32_t (*import_buffer)(MillraceInstance* instance, MillraceBuffer* buffer);
  void (*release)(MillraceInstance* instance, MillraceBuffer* buffer);
  int32_t (*transfer)(MillraceInstance* instance, const MillraceBuffer* from,
                      const MillraceBuffer* to);
  int32_t (*move)(MillraceInstance* instance, MillraceMove* move); /* for transfer(), or null */
  /* Bytes of the other board that the device is on, 0: not known. Null: it is on none. */
  size_t (*memory)(MillraceInstance* instance, size_t device);
} MillraceEngine;

/* The one function that it exports; `version` is the host's. The table lives as the library. */
const MillraceEngine* millrace_engine(uint32_t version);

#ifdef __cplusplus
}
#endif
