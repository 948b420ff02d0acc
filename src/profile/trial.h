#pragma once
// Inside the profile room: a prepared subnet with buffers of its own, ready to be run repeatedly.
#include <functional>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "profile/measure.h"

namespace millrace::profile {

class Trial {
 public:
  /// Inputs are filled with seeded random values in [-1, 1), integers with zero.
  Trial(std::unique_ptr<engine::Subnet> subnet, const network::Network& network,
        std::uint64_t seed);

  Time run();  // and how long it took
  std::vector<engine::GroupTime> run_timed();
  std::span<const engine::Port> outputs() const { return subnet_->outputs(); }

 private:
  std::unique_ptr<engine::Subnet> subnet_;
  std::vector<network::Buffer> buffers_;
  std::vector<const std::byte*> in_;
  std::vector<std::byte*> out_;
};

/// The same, for a single run without a warm-up.
MeasureOptions one_run(MeasureOptions options);

/// Calls `once(counted)`, which returns the time it took, first for the warm-up (not counted), then
/// until the options say that it is enough.
void repeat(const MeasureOptions& options, const std::function<Time(bool counted)>& once);

Statistics time_of(Trial& trial, const MeasureOptions& options);

}  // namespace millrace::profile
