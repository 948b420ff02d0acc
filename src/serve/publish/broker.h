#pragma once
// Where findings are published: a broker that speaks MQTT, and a topic.
#include <string>

namespace millrace::serve {

struct Broker {
  std::string host, user, password;
  int port = 1883;
  std::string topic;
};

/// "broker.local/street/camera1", "mqtt://user:password@broker.local:1884/street". InputError;
/// `setting` is whose it is.
Broker read_broker(const std::string& text, const std::string& setting);

/// Without user and password: "broker.local:1883/street".
std::string to_text(const Broker& broker);

}  // namespace millrace::serve
