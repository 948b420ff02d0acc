#pragma once
// When frames come.
#include "base/random.h"
#include "simulate/simulate.h"

namespace millrace::simulate {

/// The times at which the caller has the next frame, one after the other. In a closed loop it
/// always has one.
class Releases {
 public:
  Releases(const Release& release, std::uint64_t seed);
  Time next() const { return next_; }
  void advance();

 private:
  Time drawn();

  Release release_;
  Random random_;
  Time nominal_{}, next_{};
};

}  // namespace millrace::simulate
