#pragma once
// A call of the public interface: who listens and who cancels, and errors as callers get them.
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/interrupt.h"
#include "millrace/error.h"
#include "millrace/options.h"
#include "product/context.h"
#include "product/memory/in_memory.h"

namespace millrace::face {

/// Lives as long as the work of the call. Any thread.
class Call final : public product::Listener, public Interrupt {
 public:
  explicit Call(const Options& options) : options_(options) {}

  /// For an operation of product; borrows this.
  product::Context context(std::shared_ptr<const product::InMemory> memory = {});
  const Options& options() const { return options_; }
  /// Throws the Error that `thrown` is for callers; what a listener threw comes out as it was.
  [[noreturn]] void rethrow(const std::exception_ptr& thrown) const;

  void note(const std::string& text) override;
  using Interrupt::begin;
  std::unique_ptr<product::Work> begin(const std::string& title) override;
  bool take() override { return is_ended(); }

  /// Throws if the call is cancelled, or its listener has thrown.
  void show(const std::string& task, double share, const std::string& text);

 private:
  bool is_ended() const;
  void tell(const std::function<void(v1::Listener&)>& what);

  Options options_;
  std::mutex mutex_;
  std::exception_ptr of_listener_;  // what it threw first
};

/// What `work` gives; what it throws, as callers get it.
template <class Work>
auto guarded(const Call& call, Work&& work) {
  try {
    return work();
  } catch (...) {
    call.rethrow(std::current_exception());
  }
}

/// The same for what takes no options.
template <class Work>
auto guarded(Work&& work) {
  return guarded(Call(Options{}), std::forward<Work>(work));
}

/// The Error of a request that is right, but that nothing meets.
[[noreturn]] void refuse(const std::string& text);

}  // namespace millrace::face
