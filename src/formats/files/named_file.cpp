#include "formats/files/named_file.h"

#include <algorithm>

namespace millrace::formats {

namespace fs = std::filesystem;

NamedFile named_file(const std::filesystem::path& folder, const std::filesystem::path& name) {
  using enum NamedFile::Finding;
  if (name.empty() || name.is_absolute() || std::ranges::find(name, fs::path("..")) != name.end() ||
      name.native().find('\0') != std::string::npos)
    return {leaves, {}};
  std::error_code error;
  const fs::path root = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
  const fs::path file = error ? fs::path() : fs::canonical(root / name, error);
  if (error) return {missing, {}};
  if (std::ranges::mismatch(root, file).in1 != root.end()) return {link_leaves, {}};
  if (!fs::is_regular_file(file, error)) return {missing, {}};
  return {inside, file};
}

}  // namespace millrace::formats
