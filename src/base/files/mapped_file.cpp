#include "base/files/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/regular_file.h"

namespace millrace {

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const int file = open_regular_descriptor(path);
  if (file < 0) return nullptr;
  struct stat status {};
  void* memory = MAP_FAILED;
  std::size_t size = 0;
  if (::fstat(file, &status) == 0 && status.st_size > 0) {
    size = static_cast<std::size_t>(status.st_size);
    memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  }
  ::close(file);
  if (memory == MAP_FAILED) return nullptr;
  return std::shared_ptr<const MappedFile>(
      new MappedFile({static_cast<const std::byte*>(memory), size}));
}

MappedFile::~MappedFile() { ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size()); }

}  // namespace millrace
