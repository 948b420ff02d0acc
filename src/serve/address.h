#pragma once
// Where a service listens.
#include <string>

namespace millrace::serve {

struct Address {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any that is free
  bool operator==(const Address&) const = default;
};

/// ":9100" and "9100" are on the loopback; "0.0.0.0:9100" and "[::]:9100" on every network.
/// InputError; `setting` is whose it is.
Address read_address(const std::string& text, const std::string& setting);

/// "127.0.0.1:9100", "[::1]:9100".
std::string to_text(const Address& address);

}  // namespace millrace::serve
