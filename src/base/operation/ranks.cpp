#include "base/operation/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace millrace {
namespace {

/// Numbers as they lie in memory: ranks are of one architecture.
std::string bytes_of(const std::vector<Numbers>& all) {
  std::string bytes;
  for (const Numbers& numbers : all) {
    const std::uint64_t count = numbers.size();
    bytes.append(reinterpret_cast<const char*>(&count), sizeof count);
    bytes.append(reinterpret_cast<const char*>(numbers.data()), count * sizeof(double));
  }
  return bytes;
}

/// Takes the next ones out of the bytes of a rank.
Numbers next_of(std::string_view& bytes) {
  std::uint64_t count = 0;
  const auto take = [&bytes](void* to, std::size_t size) {
    if (bytes.size() < size)
      throw EngineError("a rank sent less than its share; are all of them of one build?");
    if (size > 0) std::memcpy(to, bytes.data(), size);
    bytes.remove_prefix(size);
  };
  take(&count, sizeof count);
  Numbers numbers(std::min<std::uint64_t>(count, bytes.size() / sizeof(double)));
  take(numbers.data(), count * sizeof(double));
  return numbers;
}

}  // namespace

std::string of_first(Ranks* ranks, const std::function<std::string()>& text) {
  if (!are_several(ranks)) return text();
  return ranks->exchange(is_follower(ranks) ? std::string() : text()).front();
}

void check_same(Ranks* ranks, std::string_view what, const std::string& text) {
  if (!are_several(ranks)) return;
  const std::vector<std::string> all = ranks->exchange(text);
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank] != all.front())
      throw InputError(fmt::format("rank {}", rank),
                       fmt::format("{} not the same as on rank 0; start all ranks with the same "
                                   "command, build and files",
                                   what));
}

std::vector<Numbers> shared_out(Ranks* ranks, std::size_t count,
                                const std::function<Numbers(std::size_t)>& values) {
  return shared_out_at_once(ranks, count, [&values](const std::vector<std::size_t>& mine) {
    std::vector<Numbers> result;
    for (const std::size_t i : mine) result.push_back(values(i));
    return result;
  });
}

std::vector<Numbers> shared_out_at_once(
    Ranks* ranks, std::size_t count,
    const std::function<std::vector<Numbers>(const std::vector<std::size_t>&)>& values) {
  // A single one is computed by all: to wait for it would take as long.
  const std::size_t ranks_in_all = are_several(ranks) && count > 1 ? ranks->count() : 1;
  std::vector<std::size_t> mine;
  for (std::size_t i = ranks_in_all > 1 ? ranks->rank() : 0; i < count; i += ranks_in_all)
    mine.push_back(i);
  std::vector<Numbers> own = values(mine);
  if (ranks_in_all == 1) return own;
  const std::vector<std::string> all = ranks->exchange(bytes_of(own));
  std::vector<std::string_view> left(all.begin(), all.end());
  std::vector<Numbers> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(next_of(left[i % ranks_in_all]));
  return result;
}

}  // namespace millrace
