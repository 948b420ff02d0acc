#pragma once
// What a service manager such as systemd wants to hear: that work has begun, and that it goes on.
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "application/live/observer.h"
#include "runtime/waiting/repeated.h"
#include "serve/metrics/figures.h"

namespace millrace::serve {

/// The socket of NOTIFY_SOCKET: a path, or an abstract name that begins with '@'. A text that
/// cannot be sent is passed over, as who does not listen misses nothing.
class NotifySocket {
 public:
  explicit NotifySocket(std::string name) : name_(std::move(name)) {}
  void send(const std::string& text) const;

 private:
  std::string name_;
};

/// READY=1 when a run begins, STOPPING=1 when it ends. In between WATCHDOG=1, twice in each
/// interval, but not while frames are on their way and none comes out.
class Notifier final : public application::Observer {
 public:
  struct Options {
    std::string socket;
    std::chrono::microseconds watchdog{0};  // 0: nobody waits for a sign of life
  };
  /// As a service manager says it to this process: NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID.
  static Options of_environment();

  /// Borrows the figures.
  Notifier(const Options& options, Figures& figures);

  void begun(const application::AtWork& work) override;
  void begun(const application::DeploymentAtWork& work) override;
  void ended() override;

 private:
  void begin(const std::string& name);
  void sign();

  const Options options_;
  const NotifySocket socket_;
  Figures& figures_;
  std::int64_t last_frames_ = -1;  // touched by the repeated call
  std::unique_ptr<runtime::Repeated> signs_;
};

}  // namespace millrace::serve
