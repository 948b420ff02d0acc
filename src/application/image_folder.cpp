#include "application/image_folder.h"

#include <algorithm>

#include "application/image_file.h"
#include "application/natural_order.h"

namespace millrace::application {

namespace fs = std::filesystem;

std::vector<fs::path> images_in(const fs::path& folder, std::error_code& error) {
  std::vector<fs::path> files;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    std::error_code ignored;
    const bool is_hidden = path.filename().string().starts_with('.');
    if (!is_hidden && is_image_name(path) && fs::is_regular_file(path, ignored))
      files.push_back(path);
  }
  std::sort(files.begin(), files.end(),
            [](const fs::path& a, const fs::path& b) { return is_before(a.native(), b.native()); });
  return files;
}

}  // namespace millrace::application
