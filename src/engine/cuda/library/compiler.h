#pragma once
// NVIDIA's compiler of kernels, NVRTC: its versions 11.2, 12 and 13. It needs no GPU.
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/library/shared_library.h"

namespace millrace::engine::cuda {

/// An object of the library.
struct ProgramObject;

struct CompilerApi {
  const char* (*error_text)(int);
  int (*version)(int* major, int* minor);
  int (*architecture_count)(int*);
  int (*architectures)(int*);
  int (*create)(ProgramObject**, const char* source, const char* name, int headers,
                const char* const* texts, const char* const* names);
  int (*destroy)(ProgramObject**);
  int (*compile)(ProgramObject*, int options, const char* const*);
  int (*log_size)(ProgramObject*, std::size_t*);
  int (*log)(ProgramObject*, char*);
  int (*machine_code_size)(ProgramObject*, std::size_t*);
  int (*machine_code)(ProgramObject*, char*);
  int (*virtual_code_size)(ProgramObject*, std::size_t*);
  int (*virtual_code)(ProgramObject*, char*);
};

/// C++17. A header's name is that of its #include, a program's that in messages.
struct SourceText {
  std::string name, text;
};

class Compiler {
 public:
  /// EngineError without the library.
  explicit Compiler(std::span<const std::filesystem::path> folders);

  /// "13.0"
  std::string version() const { return version_; }
  /// What Driver::load_module takes, for GPUs of compute capability major.minor: machine code
  /// ("cubin"), or PTX where the GPU is newer than this compiler. EngineError with the first error
  /// of the compiler's log, or if the GPU is too old for it.
  std::vector<char> compile(const SourceText& program, std::span<const SourceText> headers,
                            int major, int minor) const;

 private:
  CompilerApi api_{};
  std::string version_;
  std::vector<int> architectures_;  // 90 for 9.0, in order
};

}  // namespace millrace::engine::cuda
