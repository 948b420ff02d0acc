#pragma once
// Content hashes: who is who among networks, boards and profiles.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace millrace {

/// XXH3, 128 bits.
struct Digest {
  std::uint64_t high = 0, low = 0;
  bool operator==(const Digest&) const = default;
};
Digest digest_of(std::span<const std::byte> bytes);

/// Feeds bytes, gives 32 hexadecimal digits (XXH3, 128 bits). Not for secrets.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  Hasher& add(std::span<const std::byte> bytes);
  Hasher& add(std::string_view text);  // with its length, so that "ab","c" differs from "a","bc"
  Hasher& add(std::int64_t number);
  Hasher& add(const Digest& digest);
  std::string digits() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace
