// In place of mosquitto.cpp, where the build has no libmosquitto.
#include "base/error.h"
#include "serve/publish/mosquitto.h"

namespace millrace::serve {

struct Mosquitto::State {};

Mosquitto::Mosquitto(MosquittoEvents) {
  throw EngineError(
      "this build cannot publish by MQTT; build Millrace where libmosquitto-dev is installed");
}
Mosquitto::~Mosquitto() = default;
std::string Mosquitto::connect(const MosquittoConnection&) { return {}; }
bool Mosquitto::publish(const std::string&, const std::string&, int) { return false; }
std::string Mosquitto::text_of_answer(int) const { return {}; }

}  // namespace millrace::serve
