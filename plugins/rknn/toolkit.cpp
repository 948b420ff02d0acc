#include "toolkit.h"

#include <cstdlib>

#include "process.h"

namespace millrace_rknn {
namespace {

constexpr int tries_before_it_hangs = 100;  // of a fifth of a second

std::string first_line(const std::string& words) { return words.substr(0, words.find('\n')); }

std::string last_line(std::string words) {
  while (!words.empty() && words.back() == '\n') words.pop_back();
  const std::size_t end = words.rfind('\n');
  return end == std::string::npos ? words : words.substr(end + 1);
}

}  // namespace

Toolkit find_toolkit(const std::string& python) {
  int left = tries_before_it_hangs;
  const EndedProgram ended = run_program(
      {python, "-c",
       "import importlib.metadata as packages; print(packages.version('rknn-toolkit2'))"},
      [&left] { return --left > 0; });
  if (ended.was_stopped) return {{}, python + " does not answer"};
  if (ended.status == 127) return {{}, python + " cannot be started: " + last_line(ended.words)};
  if (ended.status != 0) return {{}, python + " has no package rknn-toolkit2"};
  const std::string version = first_line(ended.words);
  if (major_of(version) != 2)
    return {{}, python + " has rknn-toolkit2 " + version + ", expected a version 2"};
  return {version, {}};
}

std::string release_of(const std::string& version) {
  return version.substr(0, version.find_first_not_of("0123456789."));
}

int major_of(const std::string& version) { return std::atoi(version.c_str()); }

}  // namespace millrace_rknn
