#pragma once
// All that serves a run: metrics, the live view, MQTT, notices to a service manager.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "application/live/observer.h"
#include "serve/http/http.h"
#include "serve/metrics/figures.h"
#include "serve/metrics/sensors.h"
#include "serve/notify/notifier.h"
#include "serve/publish/publisher.h"
#include "serve/view/view.h"

namespace millrace::serve {

struct ServiceOptions {
  std::string metrics, view;                              // addresses; empty: none
  std::string mqtt;                                       // a broker and a topic; empty: none
  Notifier::Options notify = Notifier::of_environment();  // without a socket: none
  std::function<void(const std::string&)> note;           // any thread, one at a time
};

/// Serves from now on until it is gone; what it observes is a run.
class Services final : public application::Observer {
 public:
  /// InputError or EngineError as the services throw.
  explicit Services(const ServiceOptions& options);
  ~Services() override;

  void begun(const application::AtWork& work) override;
  void begun(const application::DeploymentAtWork& work) override;
  void take(const application::Outcome& outcome) override;
  void skipped() override { figures_.skipped(); }
  void done(std::size_t group, const runtime::EndedFrame& frame) override {
    figures_.done(group, frame);
  }
  void ended() override;

 private:
  void serve(const Address& address, const Pages& pages, const char* what);
  void serve_all();
  void note(const std::string& text);

  const ServiceOptions options_;
  std::mutex notes_;
  Figures figures_;
  Sensors sensors_;
  std::optional<View> view_;
  std::unique_ptr<Publisher> publisher_;
  std::vector<application::Observer*> observers_;     // of the members, in the order of their calls
  std::unique_ptr<Notifier> notifier_;                // gone before what it asks
  std::vector<std::unique_ptr<HttpServer>> servers_;  // likewise
};

}  // namespace millrace::serve
