#include "engine/cuda/library/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "base/error.h"
#include "engine/cuda/library/driver.h"

namespace millrace::engine::cuda {
namespace {

using GetSize = int (*)(ProgramObject*, std::size_t*);
using GetText = int (*)(ProgramObject*, char*);

CompilerApi compiler_api_in(const SharedLibrary& library) {
  CompilerApi api{};
  library.find("nvrtcGetErrorString", api.error_text);
  library.find("nvrtcVersion", api.version);
  library.find("nvrtcGetNumSupportedArchs", api.architecture_count);
  library.find("nvrtcGetSupportedArchs", api.architectures);
  library.find("nvrtcCreateProgram", api.create);
  library.find("nvrtcDestroyProgram", api.destroy);
  library.find("nvrtcCompileProgram", api.compile);
  library.find("nvrtcGetProgramLogSize", api.log_size);
  library.find("nvrtcGetProgramLog", api.log);
  library.find("nvrtcGetCUBINSize", api.machine_code_size);
  library.find("nvrtcGetCUBIN", api.machine_code);
  library.find("nvrtcGetPTXSize", api.virtual_code_size);
  library.find("nvrtcGetPTX", api.virtual_code);
  return api;
}

void check_compiler(const CompilerApi& api, int status) {
  if (status != success)
    throw EngineError(fmt::format("NVRTC reports '{}'", api.error_text(status)));
}

std::string version_of(const CompilerApi& api) {
  int major = 0, minor = 0;
  check_compiler(api, api.version(&major, &minor));
  return fmt::format("{}.{}", major, minor);
}

std::vector<int> architectures_of(const CompilerApi& api) {
  int count = 0;
  check_compiler(api, api.architecture_count(&count));
  std::vector<int> result(static_cast<std::size_t>(count));
  check_compiler(api, api.architectures(result.data()));
  std::ranges::sort(result);
  return result;
}

/// Destroyed when it goes.
class CompiledProgram {
 public:
  CompiledProgram(const CompilerApi& api, const SourceText& program,
                  std::span<const SourceText> headers)
      : api_(api) {
    std::vector<const char*> texts, names;
    for (const SourceText& header : headers) {
      texts.push_back(header.text.c_str());
      names.push_back(header.name.c_str());
    }
    check_compiler(api_, api_.create(&object_, program.text.c_str(), program.name.c_str(),
                                     static_cast<int>(headers.size()), texts.data(), names.data()));
  }
  ~CompiledProgram() { api_.destroy(&object_); }
  CompiledProgram(const CompiledProgram&) = delete;
  CompiledProgram& operator=(const CompiledProgram&) = delete;

  int compile(const std::string& architecture) {
    const std::string option = "--gpu-architecture=" + architecture;
    const char* const options[] = {option.c_str(), "--std=c++17"};
    return api_.compile(object_, 2, options);
  }

  std::vector<char> get(GetSize size_of, GetText text_of) const {
    std::size_t size = 0;
    check_compiler(api_, size_of(object_, &size));
    std::vector<char> result(size);
    check_compiler(api_, text_of(object_, result.data()));
    return result;
  }

 private:
  const CompilerApi& api_;
  ProgramObject* object_ = nullptr;
};

/// Empty if no line tells of an error.
std::string first_error(const std::vector<char>& log) {
  std::istringstream lines(std::string(log.begin(), log.end()));
  for (std::string line; std::getline(lines, line);)
    if (line.find("error") != std::string::npos) return line;
  return {};
}

}  // namespace

Compiler::Compiler(std::span<const std::filesystem::path> folders)
    : api_(compiler_api_in(SharedLibrary(
          folders, {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so.11"}))),
      version_(version_of(api_)),
      architectures_(architectures_of(api_)) {}

std::vector<char> Compiler::compile(const SourceText& program, std::span<const SourceText> headers,
                                    int major, int minor) const {
  // A newer GPU runs the PTX of an older one, but no older GPU runs that of a newer one.
  const int wanted = 10 * major + minor;
  const auto after = std::ranges::upper_bound(architectures_, wanted);
  if (after == architectures_.begin())
    throw EngineError(fmt::format("NVRTC {} does not compile for GPUs of compute capability {}.{}",
                                  version_, major, minor));
  const int architecture = *(after - 1);
  const bool is_known = architecture == wanted;

  CompiledProgram compiled(api_, program, headers);
  const int status =
      compiled.compile(fmt::format("{}_{}", is_known ? "sm" : "compute", architecture));
  if (status != success) {
    const std::string error = first_error(compiled.get(api_.log_size, api_.log));
    if (!error.empty()) throw EngineError("NVRTC reports: " + error);
  }
  check_compiler(api_, status);
  return is_known ? compiled.get(api_.machine_code_size, api_.machine_code)
                  : compiled.get(api_.virtual_code_size, api_.virtual_code);
}

}  // namespace millrace::engine::cuda
