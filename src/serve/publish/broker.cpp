#include "serve/publish/broker.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text/masked.h"
#include "serve/address.h"

namespace millrace::serve {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& setting,
                         const char* expected) {
  throw InputError(setting, fmt::format("found '{}', expected {}", masked(text), expected));
}

/// Takes what stands before `end` away from the text; nothing, if it is not there.
std::string taken_before(std::string& text, char end) {
  const std::size_t at = text.find(end);
  if (at == text.npos) return {};
  std::string part = text.substr(0, at);
  text.erase(0, at + 1);
  return part;
}

}  // namespace

Broker read_broker(const std::string& text, const std::string& setting) {
  std::string rest = text;
  if (const std::size_t scheme = rest.find("://"); scheme != rest.npos) {
    if (!rest.starts_with("mqtt://"))
      refuse(text, setting, "mqtt://; for a broker that wants TLS, bridge to it from one here");
    rest.erase(0, scheme + 3);
  }
  Broker broker;
  if (const std::size_t at = rest.rfind('@', rest.find('/')); at != rest.npos) {
    broker.user = rest.substr(0, at);
    rest.erase(0, at + 1);
    if (const std::size_t colon = broker.user.find(':'); colon != broker.user.npos) {
      broker.password = broker.user.substr(colon + 1);
      broker.user.erase(colon);
    }
  }
  std::string host = taken_before(rest, '/');
  broker.topic = rest;
  if (host.empty() || broker.topic.empty())
    refuse(text, setting, "a broker and a topic, such as localhost/street");
  if (broker.topic.find_first_of("#+") != broker.topic.npos)
    refuse(text, setting, "a topic without # and +, which are for who reads");
  if (host.find(':') != host.npos) {
    const Address address = read_address(host, setting);
    broker.port = address.port;
    host = address.host;
  }
  broker.host = host;
  return broker;
}

std::string to_text(const Broker& broker) {
  return fmt::format("{}/{}", to_text(Address{broker.host, broker.port}), broker.topic);
}

}  // namespace millrace::serve
