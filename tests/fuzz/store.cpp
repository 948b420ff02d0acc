// A file as it lies in a folder of kept things; and content that is kept is found again.
#include "base/store.h"

#include <algorithm>
#include <fstream>

#include "fuzz.h"

namespace {

/// Gone when the program ends.
struct Folder {
  Folder() : path((std::filesystem::temp_directory_path() / "millrace_fuzz.XXXXXX").string()) {
    if (::mkdtemp(path.data()) == nullptr) std::abort();
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  const fuzz::TimeLimit limit;
  static const Folder folder;
  const std::string_view content = fuzz::text_of(data, size);
  Store store(folder.path, Bytes{1 << 20});
  std::ofstream(folder.path + "/key.stored") << content;
  store.find("key");
  store.keep("key", std::as_bytes(std::span(content)));
  const auto found = store.find("key");
  if (!found || !std::ranges::equal(found->bytes, std::as_bytes(std::span(content)))) std::abort();
  return 0;
}
