#include "present/svg/svg.h"

#include "base/printable.h"
#include "base/text/escape.h"

namespace millrace::present {

std::string escaped(std::string_view text) { return xml_text(printable(text)); }

}  // namespace millrace::present
