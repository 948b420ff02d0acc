#pragma once
// Inside the profile room: times of the layers of a processor that is measured by subnets, such as
// a GPU.
#include <span>
#include <vector>

#include "profile/measurement_target.h"

namespace millrace::profile {

/// Layers that ran as one subnet: what that took in nanoseconds, and the elements that it read from
/// outside and wrote to there.
struct SubnetTime {
  std::vector<LayerId> layers;  // ascending
  double time = 0, elements = 0;
};

/// time(subnet) = launch + element * elements(subnet) + the sum of its layers' times.
struct SubnetModel {
  double launch = 0, element = 0;  // nanoseconds
  std::vector<double> layers;      // by LayerId; 0 where no subnet has the layer
};

/// The model that is nearest to the measurements: the least sum of squares, no number below 0, each
/// layer's time so that those of the largest subnet around it sum up to what that took. `singles`:
/// subnets of one layer; `rows`: of several, each of which the singles have. Sums and differences:
/// what a row takes less than its layers alone, it saves at launches and borders.
SubnetModel fit_subnets(std::size_t layers, std::span<const SubnetTime> singles,
                        std::span<const SubnetTime> rows);

/// Layers that the engine refuses there say why. The others have the model's times, and `borders`
/// its launch and elements, and what the calling thread took of its core. The whole network takes
/// what its largest subnets took. InputError if the engine runs no layer there.
ProcessorProfile measure_by_subnets(const MeasurementTarget& target, board::Precision precision);

}  // namespace millrace::profile
