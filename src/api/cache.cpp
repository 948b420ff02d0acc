#include "api/cache.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "base/temporary.h"

namespace millrace::api {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view profile_ending = ".profile.json";
constexpr Bytes most_packed{std::int64_t{4} << 30};

constexpr const char* packed_name = "packed";
constexpr const char* compiled_name = "compiled";

/// The variable's folder; the XDG specification says that relative ones are ignored.
std::optional<fs::path> folder_in(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || !fs::path(text).is_absolute()) return std::nullopt;
  return fs::path(text);
}

/// Why what is in the folder may be somebody else's; empty if it is not, or is not there yet.
std::string distrust(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return "";
  if (status.st_uid != ::geteuid())
    return fmt::format("{} belongs to user {}, not to {}, so nothing is read or kept there; set "
                       "XDG_CACHE_HOME to a folder of your own",
                       folder.string(), status.st_uid, ::geteuid());
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fmt::format("others may write to {}, so nothing is read or kept there; forbid it with "
                       "`chmod -R go-w FOLDER` if all in it is yours, else remove it",
                       folder.string());
  return "";
}

std::optional<fs::path> find_cache_folder(const Context& context) {
  fs::path folder;
  if (const auto caches = folder_in("XDG_CACHE_HOME"))
    folder = *caches / "millrace";
  else if (const auto home = folder_in("HOME"))
    folder = *home / ".cache" / "millrace";
  else
    context.note(
        "nothing is kept for the next time: neither XDG_CACHE_HOME nor HOME is an absolute path");
  if (folder.empty()) return std::nullopt;
  for (const fs::path& each : {folder, folder / packed_name, folder / compiled_name})
    if (const std::string reason = distrust(each); !reason.empty()) {
      context.note(reason);
      return std::nullopt;
    }
  return folder;
}

bool is_profile(const fs::path& path) {
  return path.filename().string().ends_with(profile_ending);
}

/// NAME.profile.json.PROCESS.tmp of older versions, whose writer was killed before it was whole.
bool is_abandoned(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::size_t at = name.rfind(profile_ending);
  if (at == std::string::npos || !name.ends_with(".tmp")) return false;
  const char* const process = name.c_str() + at + profile_ending.size() + 1;
  pid_t writer = 0;
  std::from_chars(process, name.c_str() + name.size(), writer);
  return writer > 0 && (::kill(writer, 0) != 0 && errno == ESRCH);
}

/// The files of this kind; none if the folder is not there.
std::vector<fs::path> files_of(const fs::path& folder, bool (*is_wanted)(const fs::path&)) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error))
    if (is_wanted(each->path())) paths.push_back(each->path());
  return paths;
}

void remove_all(const std::vector<fs::path>& paths) {
  std::error_code ignored;  // what stays is told
  for (const fs::path& path : paths) fs::remove(path, ignored);
}

}  // namespace

std::optional<fs::path> cache_folder(const Context& context) {
  static const std::optional<fs::path> folder = find_cache_folder(context);
  return folder;
}

std::optional<fs::path> make_cache_folder(const Context& context) {
  const auto folder = cache_folder(context);
  if (!folder) return std::nullopt;
  std::error_code ignored;  // writing fails with its own sentence if the folder is not there
  fs::create_directories(folder->parent_path(), ignored);
  for (const fs::path& each : {*folder, *folder / packed_name, *folder / compiled_name})
    ::mkdir(each.c_str(), S_IRWXU);
  return folder;
}

engine::EngineOptions measuring_options(const Context& context) {
  engine::EngineOptions options;
  options.libraries = context.libraries;
  options.settings = context.settings;
  const auto folder = context.cache ? cache_folder(context) : std::nullopt;
  if (folder) options.compiled = *folder / compiled_name;
  return options;
}

engine::EngineOptions engine_options(const Context& context) {
  engine::EngineOptions options = measuring_options(context);
  const auto folder = context.cache ? make_cache_folder(context) : std::nullopt;
  if (!folder) return options;
  const auto complain = [context](const std::string& reason) {
    context.note("packed weights are not kept for the next time: " + reason);
  };
  options.packed = std::make_shared<Store>(*folder / packed_name, most_packed, complain);
  return options;
}

CacheContents cache_contents(const Context& context) {
  const auto folder = cache_folder(context);
  if (!folder) return {};
  return {folder, files_of(*folder, is_profile).size(),
          Store(*folder / packed_name, most_packed).contents()};
}

bool clear_cache(const Context& context) {
  const auto folder = cache_folder(context);
  if (!folder) return false;
  Store packed(*folder / packed_name, most_packed);
  remove_all(files_of(*folder, is_profile));
  remove_all(files_of(*folder, is_abandoned));
  sweep_temporaries(*folder);
  packed.shrink({});
  std::error_code ignored;  // what stays is told
  fs::remove_all(*folder / compiled_name, ignored);
  return files_of(*folder, is_profile).empty() && files_of(*folder, is_abandoned).empty() &&
         packed.contents().files == 0 && !fs::exists(*folder / compiled_name);
}

}  // namespace millrace::api
