#include "report/svg.h"

#include "base/printable.h"

namespace millrace::report {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  return result;
}

}  // namespace millrace::report
