#include "report/svg.h"

#include "base/text/escape.h"
#include "base/printable.h"

namespace millrace::report {

std::string escaped(std::string_view text) { return xml_text(printable(text)); }

}  // namespace millrace::report
