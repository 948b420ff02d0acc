// NVIDIA's run-time compiler, as far as the engine calls it. It compiles nothing, as the driver
// that loads its result has all kernels, but it refuses what the real one would refuse for its
// names.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

struct ProgramObject {
  std::string name, source;
  std::map<std::string, std::string> headers;  // texts by name
  std::string log, machine_code, virtual_code;
};

namespace emulated {
namespace {

enum Result : int {
  success = 0,
  invalid_input = 3,
  invalid_program = 4,
  invalid_option = 5,
  compilation = 6
};

constexpr int architectures[] = {75, 80, 86, 89, 90};

/// "sm_75" of "--gpu-architecture=sm_75"; empty for another option.
std::string_view architecture_in(std::string_view option) {
  for (const std::string_view name : {"--gpu-architecture=", "-arch="})
    if (option.starts_with(name)) return option.substr(name.size());
  return {};
}

bool is_known(std::string_view architecture) {
  return std::any_of(std::begin(architectures), std::end(architectures), [&](int known) {
    const std::string number = std::to_string(known);
    return architecture == "sm_" + number || architecture == "compute_" + number;
  });
}

/// What a text includes in quotes and the program was not given; empty if there is no such header.
std::string missing_header(const ProgramObject& program, const std::string& text) {
  constexpr std::string_view directive = "#include \"";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(directive)) continue;
    const std::string name = line.substr(directive.size(), line.rfind('"') - directive.size());
    if (!program.headers.contains(name)) return name;
  }
  return {};
}

/// A header that the program or one of its headers lacks.
std::string missing_header(const ProgramObject& program) {
  std::string missing = missing_header(program, program.source);
  for (const auto& [name, text] : program.headers)
    if (missing.empty()) missing = missing_header(program, text);
  return missing;
}

int compile(ProgramObject& program, std::string_view architecture) {
  if (!is_known(architecture)) {
    program.log = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n";
    return invalid_option;
  }
  if (const std::string name = missing_header(program); !name.empty()) {
    program.log = program.name + "(1): catastrophic error: cannot open source file \"" + name +
                  "\"\n1 catastrophic error detected in the compilation of \"" + program.name +
                  "\".\nCompilation terminated.\n";
    return compilation;
  }
  program.virtual_code = "emulated:" + program.name;
  if (architecture.starts_with("sm_")) program.machine_code = program.virtual_code;
  return success;
}

int compile(ProgramObject* program, std::span<const char* const> options) {
  if (program == nullptr) return invalid_program;
  std::string_view architecture = "compute_75";
  for (const std::string_view option : options)
    if (const auto given = architecture_in(option); !given.empty()) architecture = given;
  return compile(*program, architecture);
}

struct GivenHeaders {
  int count;
  const char *const *texts, *const *names;
};

int create(ProgramObject** made, const char* source, const char* name,
           const GivenHeaders& headers) {
  if (made == nullptr || source == nullptr || headers.count < 0) return invalid_input;
  *made = new ProgramObject;
  (*made)->name = name != nullptr ? name : "default_program";
  (*made)->source = source;
  for (int i = 0; i < headers.count; ++i)
    (*made)->headers.emplace(headers.names[i], headers.texts[i]);
  return success;
}

int destroy(ProgramObject** program) {
  if (program == nullptr || *program == nullptr) return invalid_program;
  delete *program;
  *program = nullptr;
  return success;
}

/// Texts end with a zero, which counts; there is none of nothing.
int size_of(const ProgramObject* program, std::string ProgramObject::*text, std::size_t* size) {
  if (program == nullptr) return invalid_program;
  *size = (program->*text).empty() ? 0 : (program->*text).size() + 1;
  return success;
}

int copy(const ProgramObject* program, std::string ProgramObject::*text, char* to) {
  std::size_t size = 0;
  if (const int result = size_of(program, text, &size); result != success) return result;
  if (size != 0) std::memcpy(to, (program->*text).c_str(), size);
  return success;
}

const char* text_of(int result) {
  switch (result) {
    case success:
      return "NVRTC_SUCCESS";
    case invalid_input:
      return "NVRTC_ERROR_INVALID_INPUT";
    case invalid_program:
      return "NVRTC_ERROR_INVALID_PROGRAM";
    case invalid_option:
      return "NVRTC_ERROR_INVALID_OPTION";
    case compilation:
      return "NVRTC_ERROR_COMPILATION";
    default:
      return "NVRTC_ERROR unknown";
  }
}

}  // namespace
}  // namespace emulated

extern "C" int nvrtcVersion(int* major, int* minor) {
  *major = 12;
  *minor = 4;
  return emulated::success;
}
extern "C" const char* nvrtcGetErrorString(int result) { return emulated::text_of(result); }
extern "C" int nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(std::size(emulated::architectures));
  return emulated::success;
}
extern "C" int nvrtcGetSupportedArchs(int* found) {
  std::copy(std::begin(emulated::architectures), std::end(emulated::architectures), found);
  return emulated::success;
}

extern "C" int nvrtcCreateProgram(ProgramObject** made, const char* source, const char* name,
                                  int count, const char* const* texts, const char* const* names) {
  const emulated::GivenHeaders headers{count, texts, names};
  return emulated::create(made, source, name, headers);
}
extern "C" int nvrtcDestroyProgram(ProgramObject** program) { return emulated::destroy(program); }
extern "C" int nvrtcCompileProgram(ProgramObject* program, int count, const char* const* options) {
  const std::span<const char* const> given(options, static_cast<std::size_t>(count));
  return emulated::compile(program, given);
}

extern "C" int nvrtcGetProgramLogSize(const ProgramObject* program, std::size_t* size) {
  const int result = emulated::size_of(program, &ProgramObject::log, size);
  *size = *size == 0 ? 1 : *size;  // a log is there always
  return result;
}
extern "C" int nvrtcGetProgramLog(const ProgramObject* program, char* text) {
  *text = 0;
  return emulated::copy(program, &ProgramObject::log, text);
}
extern "C" int nvrtcGetCUBINSize(const ProgramObject* program, std::size_t* size) {
  return emulated::size_of(program, &ProgramObject::machine_code, size);
}
extern "C" int nvrtcGetCUBIN(const ProgramObject* program, char* code) {
  return emulated::copy(program, &ProgramObject::machine_code, code);
}
extern "C" int nvrtcGetPTXSize(const ProgramObject* program, std::size_t* size) {
  return emulated::size_of(program, &ProgramObject::virtual_code, size);
}
extern "C" int nvrtcGetPTX(const ProgramObject* program, char* code) {
  return emulated::copy(program, &ProgramObject::virtual_code, code);
}
