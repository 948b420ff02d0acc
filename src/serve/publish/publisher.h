#pragma once
// Findings as JSON over MQTT, by libmosquitto, which is loaded when it is needed.
#include <functional>
#include <memory>
#include <string>

#include "application/live/observer.h"
#include "serve/publish/broker.h"

namespace millrace::serve {

/// Publishes each frame's line of JSON once the broker has said that it is there. While the broker
/// is gone, lines wait; what waits too long a queue is dropped and counted.
class Publisher final : public application::Observer {
 public:
  using Note = std::function<void(const std::string&)>;

  /// Connects. EngineError if the broker cannot be reached or refuses, or the library is missing.
  Publisher(const Broker& broker, Note note);
  ~Publisher() override;

  void begun(const application::AtWork& work) override;
  /// Lines of a group have a topic of their own, TOPIC/GROUP.
  void begun(const application::DeploymentAtWork& work) override;
  void take(const application::Outcome& outcome) override;
  /// Waits a little for what the broker has not acknowledged; notes what it has not got.
  void ended() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::serve
