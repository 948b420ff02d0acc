#pragma once
// Something that is done every so often beside the work.
#include <chrono>
#include <functional>
#include <memory>

namespace millrace::runtime {

/// Calls it on a thread of its own until it is destroyed, at once or not at all after that. The
/// function must not throw.
class Repeated {
 public:
  Repeated(std::function<void()> call, std::chrono::milliseconds period);
  ~Repeated();
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::runtime
