#include "serve/address.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"

namespace millrace::serve {
namespace {

constexpr int largest_port = 65535;

/// None: -1.
int port_of(const std::string& text) {
  int port = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() && port <= largest_port ? port
                                                                                         : -1;
}

}  // namespace

Address read_address(const std::string& text, const std::string& setting) {
  Address address;
  const std::size_t colon = text.rfind(':');
  std::string host = colon == text.npos ? "" : text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  address.port = port_of(colon == text.npos ? text : text.substr(colon + 1));
  if (address.port < 0)
    throw InputError(setting,
                     fmt::format("found '{}', expected a port of 0 to {} such as :9100, or an "
                                 "address and a port such as 0.0.0.0:9100",
                                 text, largest_port));
  if (!host.empty()) address.host = host;
  return address;
}

std::string to_text(const Address& address) {
  const bool is_long = address.host.find(':') != std::string::npos;
  return is_long ? fmt::format("[{}]:{}", address.host, address.port)
                 : fmt::format("{}:{}", address.host, address.port);
}

}  // namespace millrace::serve
