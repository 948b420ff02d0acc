#pragma once
// What a plug-in compiled, in a file: who made it, for what, and of what.
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "engine/options.h"

namespace millrace::engine::plugin {

/// Two blobs with the same of all four are the same.
struct BlobIdentity {
  std::string engine, sdk;  // the name of the plug-in and the version of what it is made of
  std::string model;        // of the device
  std::string content;      // digits: what was compiled, in which precisions, with which options
};

/// "ENGINE-CONTENT.blob".
std::string blob_name(const BlobIdentity& identity);

std::string blob_file(const BlobIdentity& identity, std::span<const std::byte> bytes);

/// The bytes within the file's content. InputError that names `place` if it is no blob, is
/// truncated or damaged; with both versions if it is of another version of the SDK, and with both
/// models if it is for another device.
std::span<const std::byte> blob_in(std::string_view file, const BlobIdentity& expected,
                                   const std::string& place);

/// The version of the SDK that made the blobs of this plug-in in the folder; empty: there is none.
std::string sdk_of_blobs(const std::string& engine, const std::filesystem::path& folder);

/// Compiled ones of earlier runs in the cache's folder. A store is a convenience: what cannot be
/// read there is not there.
class BlobCache {
 public:
  explicit BlobCache(const EngineOptions& options);
  std::optional<std::string> find(const BlobIdentity& identity) const;  // the file's content
  void keep(const BlobIdentity& identity, std::string_view file);

 private:
  std::optional<Store> store_;
};

}  // namespace millrace::engine::plugin
