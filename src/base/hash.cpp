#include "base/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <bit>
#include <new>

namespace millrace {

Digest digest_of(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

struct Hasher::State {
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> xxh{XXH3_createState()};
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  if (!state_->xxh) throw std::bad_alloc();
  XXH3_128bits_reset(state_->xxh.get());
}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

Hasher& Hasher::add(std::span<const std::byte> bytes) {
  XXH3_128bits_update(state_->xxh.get(), bytes.data(), bytes.size());
  return *this;
}

Hasher& Hasher::add(std::string_view text) {
  add(static_cast<std::int64_t>(text.size()));
  return add(std::as_bytes(std::span(text.data(), text.size())));
}

Hasher& Hasher::add(std::int64_t number) {
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof number>>(number);
  return add(std::span<const std::byte>(bytes));
}

Hasher& Hasher::add(const Digest& digest) {
  const std::array parts{digest.high, digest.low};
  return add(std::as_bytes(std::span(parts)));
}

std::string Hasher::digits() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->xxh.get());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace millrace
