#include "base/files/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

#include "base/error.h"
#include "base/temporary.h"

namespace millrace {

void check_is_regular(const std::filesystem::path& path) {
  if (!is_special(path)) return;
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (kind == std::filesystem::file_type::directory)
    throw InputError(path.string(), "is a folder, expected a file");
  if (kind == std::filesystem::file_type::socket)
    throw InputError(path.string(), "is a socket, expected a file");
  throw InputError(path.string(),
                   "is a pipe or a device, expected a file; write its content into a file");
}

int open_regular_descriptor(const std::filesystem::path& path) {
  if (is_special(path)) return -1;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (file >= 0 && ::fstat(file, &status) == 0 && S_ISREG(status.st_mode)) return file;
  if (file >= 0) ::close(file);
  return -1;
}

}  // namespace millrace
