#include "engine/plugin/blob.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"

namespace millrace::engine::plugin {
namespace {

constexpr std::string_view magic = "millrace blob 1";
constexpr Bytes most_kept_bytes{std::int64_t{4} << 30};

std::string digits_of(std::span<const std::byte> bytes) { return Hasher().add(bytes).digits(); }

/// Takes a line off the text. InputError if it has no more.
std::string_view take_line(std::string_view& text, const std::string& place) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) throw InputError(place, "is truncated; compile it again");
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

std::string one_line(std::string text) {
  for (char& letter : text)
    if (letter == '\n') letter = ' ';
  return text;
}

/// What is in the cache is of this version: another one is another piece.
std::string key_of(const BlobIdentity& identity) {
  return Hasher().add(identity.engine).add(identity.sdk).add(identity.model)
      .add(identity.content).digits();
}

}  // namespace

std::string blob_name(const BlobIdentity& identity) {
  return identity.engine + "-" + identity.content + ".blob";
}

std::string blob_file(const BlobIdentity& identity, std::span<const std::byte> bytes) {
  std::string file = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n", magic, identity.engine,
                                 one_line(identity.sdk), one_line(identity.model), identity.content,
                                 bytes.size(), digits_of(bytes));
  file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return file;
}

std::span<const std::byte> blob_in(std::string_view file, const BlobIdentity& expected,
                                   const std::string& place) {
  if (!file.starts_with(magic))
    throw InputError(place, "is no blob of a plug-in; make the bundle again");
  take_line(file, place);
  const std::string engine(take_line(file, place)), sdk(take_line(file, place)),
      model(take_line(file, place)), content(take_line(file, place));
  const std::string_view size_text = take_line(file, place);
  const std::string digits(take_line(file, place));
  if (engine != expected.engine || content != expected.content)
    throw InputError(place, fmt::format("was compiled by {} of something else; make the bundle "
                                        "again",
                                        engine));
  if (sdk != one_line(expected.sdk))
    throw InputError(place, fmt::format("was compiled with version {} of {}, here is {}; compile "
                                        "it again with that, or install the other",
                                        sdk, engine, expected.sdk));
  if (model != one_line(expected.model))
    throw InputError(place, fmt::format("was compiled for {}, here is {}; compile it for this "
                                        "device",
                                        model, expected.model));
  std::size_t size = 0;
  std::from_chars(size_text.data(), size_text.data() + size_text.size(), size);
  if (file.size() < size)
    throw InputError(place, fmt::format("is truncated: {} of {} bytes are there; copy it again",
                                        file.size(), size));
  const auto bytes = std::as_bytes(std::span(file));
  if (file.size() != size || digits_of(bytes) != digits)
    throw InputError(place, "is damaged; copy it again");
  return bytes;
}

std::string sdk_of_blobs(const std::string& engine, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::directory_iterator each(folder, error);
  for (; !error && each != std::filesystem::end(each); each.increment(error)) {
    const std::string name = each->path().filename().string();
    if (!name.starts_with(engine + "-") || !name.ends_with(".blob")) continue;
    std::ifstream file = open_regular_file(each->path());
    std::string line;
    for (int i = 0; i < 3; ++i) std::getline(file, line);  // magic, engine, version
    return line;
  }
  return {};
}

BlobCache::BlobCache(const EngineOptions& options) {
  if (!options.compiled.empty()) store_.emplace(options.compiled / "blobs", most_kept_bytes);
}

std::optional<std::string> BlobCache::find(const BlobIdentity& identity) const {
  if (!store_) return std::nullopt;
  const auto found = store_->find(key_of(identity));
  if (!found) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(found->bytes.data()), found->bytes.size());
}

void BlobCache::keep(const BlobIdentity& identity, std::string_view file) {
  if (store_) store_->keep(key_of(identity), std::as_bytes(std::span(file)));
}

}  // namespace millrace::engine::plugin
