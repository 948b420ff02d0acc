#pragma once
// Whether two runs of an application found the same.
#include "application/findings.h"

namespace millrace::application {

/// Equal but for rounding: kernels of parts of a network may add in another order than those of the
/// whole. What a plug-in or `raw` writes is not compared.
bool are_same(const application::Findings& a, const application::Findings& b);

}  // namespace millrace::application
