#include "present/description.h"

#include <fmt/format.h>

namespace millrace::present {

Value Value::share(double share) { return {share, fmt::format("{:.1f} %", 100 * share)}; }

}  // namespace millrace::present
