#include "remote/command.h"

#include <algorithm>

namespace millrace::remote {

namespace fs = std::filesystem;

std::string name_of(const fs::path& path) {
  std::string name = fs::absolute(path).lexically_normal().string();
  while (name.ends_with('/')) name.pop_back();
  return name.substr(std::min(name.find_first_not_of('/'), name.size()));
}

bool may_write(const Command& command, const std::string& name) {
  return std::ranges::any_of(command.writes, [&](const Written& written) {
    const std::string place = name_of(written.path);
    if (name == place) return written.kind != Written::Kind::tree;
    if (written.kind == Written::Kind::tree) return name.starts_with(place + "/");
    if (written.kind == Written::Kind::file || !place.ends_with(".npy")) return false;
    const std::string begin = place.substr(0, place.size() - 3);  // "NAME."
    return name.starts_with(begin) && name.ends_with(".npy") &&
           name.find('/', begin.size()) == name.npos;
  });
}

}  // namespace millrace::remote
