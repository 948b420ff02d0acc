#pragma once
// A client of libmosquitto.
#include <functional>
#include <memory>
#include <string>

namespace millrace::serve {

/// Called by the client's thread.
struct MosquittoEvents {
  std::function<void(int code)> connected;  // 0: the broker took us
  std::function<void()> disconnected;
  std::function<void()> acknowledged;  // a message, by the broker
};

struct MosquittoConnection {
  std::string host;
  int port = 1883;
  std::string user, password;  // empty: none
  int keep_alive_s = 30;
};

/// Reconnects by itself. EngineError if this build or machine has no such library.
class Mosquitto {
 public:
  explicit Mosquitto(MosquittoEvents events);
  /// Disconnects.
  ~Mosquitto();
  Mosquitto(const Mosquitto&) = delete;
  Mosquitto& operator=(const Mosquitto&) = delete;

  /// What is wrong; empty: the broker is reached and will answer.
  std::string connect(const MosquittoConnection& to);
  /// False: it is not taken.
  bool publish(const std::string& topic, const std::string& text, int quality);
  std::string text_of_answer(int code) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::serve
