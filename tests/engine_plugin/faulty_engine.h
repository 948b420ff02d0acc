#pragma once
// The example's engine with a fault, as a library of its own: a process loads a file once.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/temporary_folder.h"

namespace millrace::test {

/// While it lives, the library's table has the fault when it is loaded first.
class FaultyEngine {
 public:
  explicit FaultyEngine(const std::string& fault)
      : file_(folder_.path() / "libmillrace_engine_example.so") {
    std::filesystem::copy_file(MILLRACE_FAULTY_ENGINE, file_);
    ::setenv("MILLRACE_FAULT", fault.c_str(), 1);
  }
  ~FaultyEngine() { ::unsetenv("MILLRACE_FAULT"); }
  FaultyEngine(const FaultyEngine&) = delete;
  FaultyEngine& operator=(const FaultyEngine&) = delete;

  const std::filesystem::path& file() const { return file_; }

 private:
  TemporaryFolder folder_;
  std::filesystem::path file_;
};

}  // namespace millrace::test
