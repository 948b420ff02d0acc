#pragma once
// From a subnet to the toolkit's file, in a process of its own.
#include <functional>
#include <string>

#include "settings.h"

namespace millrace_rknn {

/// The toolkit's file. With int8, the ranges are those of the subnet's tensors; layers that
/// multiply in float16 stay so. SdkFailure with the toolkit's reason, or once `goes_on` says no.
std::string convert(const NpuSettings& settings, const MillraceSubnet& subnet,
                    const std::function<bool()>& goes_on);

/// What convert.py reads. SdkFailure if a range of an input is missing that int8 needs.
std::string job_of(const NpuSettings& settings, const MillraceSubnet& subnet);

}  // namespace millrace_rknn
