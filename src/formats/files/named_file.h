#pragma once
// Files that other files name.
#include <filesystem>

namespace millrace::formats {

/// A file that another file names, as a model names its weights: nobody vouches for the name.
struct NamedFile {
  enum class Finding { inside, leaves, missing, link_leaves };
  Finding finding = Finding::missing;
  std::filesystem::path path;  // the real one, links resolved; only if it is inside
};
/// The only judge of such names, for whoever reads, copies or protects the file. Inside is a
/// regular file whose real path lies in the folder, under a relative name without "..".
NamedFile named_file(const std::filesystem::path& folder, const std::filesystem::path& name);

}  // namespace millrace::formats
