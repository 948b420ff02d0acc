#include "serve/publish/mosquitto.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <mosquitto.h>

#include "base/error.h"

namespace millrace::serve {
namespace {

/// The functions of the library, once it is loaded.
struct Library {
  void* handle = nullptr;
  decltype(&mosquitto_lib_init) init = nullptr;
  decltype(&mosquitto_new) make = nullptr;
  decltype(&mosquitto_destroy) destroy = nullptr;
  decltype(&mosquitto_username_pw_set) set_user = nullptr;
  decltype(&mosquitto_connect_callback_set) on_connect = nullptr;
  decltype(&mosquitto_disconnect_callback_set) on_disconnect = nullptr;
  decltype(&mosquitto_publish_callback_set) on_publish = nullptr;
  decltype(&mosquitto_reconnect_delay_set) set_delay = nullptr;
  decltype(&mosquitto_connect) connect = nullptr;
  decltype(&mosquitto_disconnect) disconnect = nullptr;
  decltype(&mosquitto_loop_start) start = nullptr;
  decltype(&mosquitto_loop_stop) stop = nullptr;
  decltype(&mosquitto_publish) publish = nullptr;
  decltype(&mosquitto_strerror) text_of = nullptr;
  decltype(&mosquitto_connack_string) text_of_answer = nullptr;
};

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    throw EngineError(
        fmt::format("libmosquitto.so.1 has no {}; install libmosquitto1 again", name));
}

Library load_mosquitto() {
  Library library;
  library.handle = dlopen("libmosquitto.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library.handle == nullptr)
    throw EngineError("publishing by MQTT needs libmosquitto.so.1, which is not here; install "
                      "libmosquitto1");
  find(library.handle, "mosquitto_lib_init", library.init);
  find(library.handle, "mosquitto_new", library.make);
  find(library.handle, "mosquitto_destroy", library.destroy);
  find(library.handle, "mosquitto_username_pw_set", library.set_user);
  find(library.handle, "mosquitto_connect_callback_set", library.on_connect);
  find(library.handle, "mosquitto_disconnect_callback_set", library.on_disconnect);
  find(library.handle, "mosquitto_publish_callback_set", library.on_publish);
  find(library.handle, "mosquitto_reconnect_delay_set", library.set_delay);
  find(library.handle, "mosquitto_connect", library.connect);
  find(library.handle, "mosquitto_disconnect", library.disconnect);
  find(library.handle, "mosquitto_loop_start", library.start);
  find(library.handle, "mosquitto_loop_stop", library.stop);
  find(library.handle, "mosquitto_publish", library.publish);
  find(library.handle, "mosquitto_strerror", library.text_of);
  find(library.handle, "mosquitto_connack_string", library.text_of_answer);
  library.init();
  return library;
}

const Library& library() {
  static const Library loaded = load_mosquitto();
  return loaded;
}

}  // namespace

struct Mosquitto::State {
  explicit State(MosquittoEvents events_of) : events(std::move(events_of)) {}
  MosquittoEvents events;
  mosquitto* client = nullptr;
  bool is_started = false;
};

Mosquitto::Mosquitto(MosquittoEvents events) : state_(std::make_unique<State>(std::move(events))) {
  state_->client = library().make(nullptr, true, state_.get());
  if (state_->client == nullptr) throw EngineError("libmosquitto makes no client: out of memory");
  library().on_connect(state_->client, [](mosquitto*, void* state, int code) {
    static_cast<State*>(state)->events.connected(code);
  });
  library().on_disconnect(state_->client, [](mosquitto*, void* state, int) {
    static_cast<State*>(state)->events.disconnected();
  });
  library().on_publish(state_->client, [](mosquitto*, void* state, int) {
    static_cast<State*>(state)->events.acknowledged();
  });
}

Mosquitto::~Mosquitto() {
  library().disconnect(state_->client);
  if (state_->is_started) library().stop(state_->client, false);
  library().destroy(state_->client);
}

std::string Mosquitto::connect(const MosquittoConnection& to) {
  constexpr unsigned soonest_s = 1, latest_s = 10;
  if (!to.user.empty())
    library().set_user(state_->client, to.user.c_str(),
                       to.password.empty() ? nullptr : to.password.c_str());
  library().set_delay(state_->client, soonest_s, latest_s, true);
  int code = library().connect(state_->client, to.host.c_str(), to.port, to.keep_alive_s);
  if (code == MOSQ_ERR_SUCCESS) code = library().start(state_->client);
  state_->is_started = code == MOSQ_ERR_SUCCESS;
  return code == MOSQ_ERR_SUCCESS ? "" : library().text_of(code);
}

bool Mosquitto::publish(const std::string& topic, const std::string& text, int quality) {
  const int code =
      library().publish(state_->client, nullptr, topic.c_str(), static_cast<int>(text.size()),
                        text.data(), quality, false);
  // At the higher qualities a message waits in the client where there is no connection.
  return code == MOSQ_ERR_SUCCESS || (code == MOSQ_ERR_NO_CONN && quality > 0);
}

std::string Mosquitto::text_of_answer(int code) const { return library().text_of_answer(code); }

}  // namespace millrace::serve
