// Sums of shares with different periods, compared exactly.
#include <algorithm>
#include <map>
#include <numeric>

#include "explore/admission/problem.h"

namespace millrace::explore {
namespace {

/// A natural number of any length.
class Natural {
 public:
  explicit Natural(std::uint64_t value) : digits_{value} {}

  Natural times(std::uint64_t factor) const {
    Natural result = *this;
    unsigned __int128 carry = 0;
    for (std::uint64_t& digit : result.digits_) {
      carry += static_cast<unsigned __int128>(digit) * factor;
      digit = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
    if (carry > 0) result.digits_.push_back(static_cast<std::uint64_t>(carry));
    return result;
  }

  Natural plus(const Natural& other) const {
    Natural result = *this;
    result.digits_.resize(std::max(digits_.size(), other.digits_.size()), 0);
    unsigned __int128 carry = 0;
    for (std::size_t d = 0; d < result.digits_.size(); ++d) {
      carry += result.digits_[d];
      if (d < other.digits_.size()) carry += other.digits_[d];
      result.digits_[d] = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
    if (carry > 0) result.digits_.push_back(static_cast<std::uint64_t>(carry));
    return result;
  }

  bool is_at_most(const Natural& other) const {
    const std::size_t most = std::max(digits_.size(), other.digits_.size());
    for (std::size_t d = most; d-- > 0;)
      if (digit(d) != other.digit(d)) return digit(d) < other.digit(d);
    return true;
  }

 private:
  std::uint64_t digit(std::size_t place) const {
    return place < digits_.size() ? digits_[place] : 0;
  }
  std::vector<std::uint64_t> digits_;  // the lowest first
};

/// As one fraction. Precondition: the sum is not far above 1.
bool is_sum_at_most_one(const std::vector<Share>& shares) {
  std::map<std::uint64_t, std::uint64_t> busy_of_period;  // in lowest terms
  for (const Share& share : shares) {
    const std::int64_t common = std::gcd(share.busy.count(), share.period.count());
    busy_of_period[static_cast<std::uint64_t>(share.period.count() / common)] +=
        static_cast<std::uint64_t>(share.busy.count() / common);
  }
  Natural over(0), under(1);
  for (const auto& [period, busy] : busy_of_period) {
    over = over.times(period).plus(under.times(busy));
    under = under.times(period);
  }
  return over.is_at_most(under);
}

}  // namespace

double Share::value() const {
  return static_cast<double>(busy.count()) / static_cast<double>(period.count());
}

UnitParts rounded_down(const Share& share) {
  const auto busy = static_cast<unsigned __int128>(share.busy.count());
  const auto parts = (busy << 50) / static_cast<unsigned __int128>(share.period.count());
  return static_cast<UnitParts>(std::min<unsigned __int128>(parts, 2 * whole_unit));
}

bool at_most_one(const std::vector<Share>& shares) {
  UnitParts sum = 0;
  for (const Share& share : shares) {
    sum += rounded_down(share);
    if (sum > whole_unit) return false;
  }
  // Each share was rounded by less than one part.
  if (sum + static_cast<UnitParts>(shares.size()) <= whole_unit) return true;
  return is_sum_at_most_one(shares);
}

}  // namespace millrace::explore
