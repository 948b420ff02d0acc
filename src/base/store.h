#pragma once
// What took long to calculate and may be wanted again: pieces of bytes in a folder, found by key.
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/units.h"

namespace millrace {

/// Content that was found. It lies in the file itself, in memory that processes share, and stays
/// there as long as `owner`, whatever happens to the file's name.
struct Stored {
  std::span<const std::byte> bytes;   // aligned to 64 bytes
  std::shared_ptr<const void> owner;  // shared among all that use the bytes
};

/// Thread-safe, and several processes may use one folder. A store is a convenience: what cannot be
/// read is not there, and what cannot be written is calculated again the next time.
class Store {
 public:
  using Complaint = std::function<void(const std::string&)>;

  /// Keeps at most `most` in the folder, which is made when something is kept. `complain` is called
  /// at most once, with the reason why nothing can be kept.
  Store(std::filesystem::path folder, Bytes most, Complaint complain = {});
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Nothing if it was not kept, or if the file is damaged; that is replaced by the next keep().
  /// Precondition, here and in keep(): the key may be a file's name.
  std::optional<Stored> find(const std::string& key) const;
  /// The whole content or none of it will be found.
  void keep(const std::string& key, std::span<const std::byte> content);

  struct Contents {
    std::int64_t files = 0;
    Bytes size;
  };
  Contents contents() const;
  /// Removes those used longest ago until the rest takes at most `most`.
  void shrink(Bytes most) const;

 private:
  std::filesystem::path path_of(const std::string& key) const;

  std::filesystem::path folder_;
  Bytes most_;
  Complaint complain_;
  std::atomic<bool> kept_{false};    // something, so that the folder may have grown too large
  std::atomic<bool> failed_{false};  // set once; nothing more is written then
};

}  // namespace millrace
