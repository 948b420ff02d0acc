#pragma once
// A program in place of python3 with the toolkit: it says a version, and converts as a test wants.
#include <filesystem>
#include <string>

#include "base/file.h"
#include "support/temporary_folder.h"

namespace millrace::test {

class FakePython {
 public:
  /// `conversion`: commands of sh; $2 is the folder of the conversion.
  explicit FakePython(const std::string& version, const std::string& conversion = "exit 0") {
    write_file(file(), "#!/bin/sh\nif [ \"$1\" = -c ]; then echo " + version + "; exit; fi\n" +
                           conversion + "\n");
    std::filesystem::permissions(file(), std::filesystem::perms::owner_all);
  }
  std::string file() const { return (folder_.path() / "python3").string(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace millrace::test
