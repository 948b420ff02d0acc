#include "engine/onnxruntime/places.h"

#include "engine/package_folders.h"

namespace millrace::engine::onnxruntime {

namespace fs = std::filesystem;

std::vector<fs::path> usual_libraries() {
  std::vector<fs::path> libraries;
  for (const fs::path& folder : package_folders())
    for (const fs::path& file : entries_of(folder / "onnxruntime" / "capi", "libonnxruntime.so"))
      libraries.push_back(file);
  libraries.emplace_back("libonnxruntime.so.1");
  for (const char* folder : {"/usr/local/lib", "/usr/lib", "/usr/lib/x86_64-linux-gnu",
                             "/usr/lib/aarch64-linux-gnu", "/usr/lib64"})
    for (const fs::path& file : entries_of(folder, "libonnxruntime.so")) libraries.push_back(file);
  return libraries;
}

}  // namespace millrace::engine::onnxruntime
