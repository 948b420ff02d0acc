#include "product/cache.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/files/removal.h"
#include "base/temporary.h"

namespace millrace::product {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view profile_ending = ".profile.json";
constexpr Bytes most_packed{std::int64_t{4} << 30};

constexpr const char* packed_name = "packed";
constexpr const char* compiled_name = "compiled";
constexpr const char* remote_name = "remote";  // of src/remote

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

std::optional<fs::path> find_cache_folder(const millrace::Context& context) {
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

/// NAME.profile.json.NUMBER.tmp, which becomes a profile when it is whole.
bool is_draft_of_profile(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.rfind(profile_ending) != std::string::npos && name.ends_with(".tmp");
}

/// Nobody writes for so long to a profile.
bool is_fresh(const fs::path& path) {
  std::error_code error;
  const auto written = fs::last_write_time(path, error);
  return fs::is_regular_file(path, error) && !error &&
         fs::file_time_type::clock::now() - written < std::chrono::hours(1);
}

std::vector<fs::path> all_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error))
    paths.push_back(each->path());
  return paths;
}

/// Profiles, and what killed processes left of some.
Removal remove_profiles(const fs::path& folder) {
  Removal removal;
  for (const fs::path& path : all_in(folder)) {
    const fs::path name = path.filename();
    const bool is_draft = is_draft_of_profile(path);
    if (is_draft && is_fresh(path))
      removal.leave(path, Removal::written);
    else if (is_draft || is_profile(path))
      removal.remove(path, {});
    else if (name != packed_name && name != compiled_name && name != remote_name)
      removal.leave(path, Removal::foreign);
  }
  return removal;
}

/// A folder of the cache, whatever is there in its place.
Removal remove_folder(const fs::path& folder) {
  Removal removal;
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) return removal;
  removal.failed = true;
  removal.leave(folder, "cannot be removed: " + error.message());
  return removal;
}

/// Weights; the folder itself stays, as others may write there.
Removal remove_packed(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder, error) ? clear_store(folder) : remove_folder(folder);
}

/// Whether the libraries that read there would find only what can be read.
bool holds_only_files(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return true;
  for (fs::recursive_directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    std::error_code gone;
    const auto status = each->status(gone);
    if (!gone && !fs::is_regular_file(status) && !fs::is_directory(status)) return false;
  }
  return !error;
}

/// Where engines keep what they compile; a note, once, and nothing if they cannot.
fs::path compiled_folder(const fs::path& cache, const millrace::Context& context) {
  static const bool is_usable = [&] {
    const bool is = holds_only_files(cache / compiled_name);
    if (!is)
      context.note(fmt::format("{} holds what is no file, so nothing is read or kept there; "
                               "`millrace cache ⟨clear⟩` removes it",
                               (cache / compiled_name).string()));
    return is;
  }();
  return is_usable ? cache / compiled_name : fs::path();
}

}  // namespace

std::optional<fs::path> cache_folder(const millrace::Context& context) {
  static const std::optional<fs::path> folder = find_cache_folder(context);
  return folder;
}

std::optional<fs::path> make_cache_folder(const millrace::Context& context) {
  const auto folder = cache_folder(context);
  if (!folder) return std::nullopt;
  std::error_code ignored;  // writing fails with its own sentence if the folder is not there
  fs::create_directories(folder->parent_path(), ignored);
  for (const fs::path& each : {*folder, *folder / packed_name, *folder / compiled_name})
    ::mkdir(each.c_str(), S_IRWXU);
  return folder;
}

engine::EngineOptions measuring_options(const millrace::Context& context) {
  engine::EngineOptions options;
  options.libraries = context.libraries;
  options.settings = context.settings;
  options.blobs = context.blobs;
  options.compiling = [interrupt = context.interrupt](double) {
    return !InterruptGuard(interrupt).take();
  };
  const auto folder = context.cache ? cache_folder(context) : std::nullopt;
  if (folder) options.compiled = compiled_folder(*folder, context);
  return options;
}

engine::EngineOptions engine_options(const millrace::Context& context) {
  engine::EngineOptions options = measuring_options(context);
  const auto folder = context.cache ? make_cache_folder(context) : std::nullopt;
  if (!folder) return options;
  const auto complain = [context](const std::string& reason) {
    context.note("packed weights are not kept for the next time: " + reason);
  };
  options.packed = std::make_shared<Store>(*folder / packed_name, most_packed, complain);
  return options;
}

CacheContents cache_contents(const millrace::Context& context) {
  const auto folder = cache_folder(context);
  if (!folder) return {};
  const std::vector<fs::path> paths = all_in(*folder);
  return {folder, static_cast<std::size_t>(std::ranges::count_if(paths, is_profile)),
          Store(*folder / packed_name, most_packed).contents()};
}

ClearedCache clear_cache(const millrace::Context& context) {
  const auto folder = cache_folder(context);
  if (!folder) return {{}, {}, true};
  sweep_temporaries(*folder);
  const Removal profiles = remove_profiles(*folder), packed = remove_packed(*folder / packed_name),
                compiled = remove_folder(*folder / compiled_name),
                sent = remove_folder(*folder / remote_name);
  ClearedCache cleared{{folder, static_cast<std::size_t>(profiles.files),
                        {packed.files, packed.size}}, {}, false};
  for (const Removal* each : {&profiles, &packed, &compiled, &sent}) {
    cleared.left.insert(cleared.left.end(), each->left.begin(), each->left.end());
    cleared.failed = cleared.failed || each->failed;
  }
  return cleared;
}

}  // namespace millrace::product
