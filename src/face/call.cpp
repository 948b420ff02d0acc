#include "face/call.h"

#include <new>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text/settings.h"

namespace millrace {

v1::CancelToken::CancelToken() : cancelled_(std::make_shared<std::atomic<bool>>(false)) {}

}  // namespace millrace

namespace millrace::face {
namespace {

/// Settings are fields of requests here.
std::string with_fields(const std::string& text) {
  return with_settings(text, [](std::string_view name) { return std::string(name); });
}

/// "found, expected; what to do".
Error error_of(ErrorKind kind, const std::string& place, const std::string& text) {
  Error::Parts parts;
  parts.place = with_fields(place);
  const std::string whole = with_fields(text);
  const std::string prefix = parts.place.empty() ? "" : parts.place + ": ";
  const bool has_place = !prefix.empty() && whole.compare(0, prefix.size(), prefix) == 0;
  const std::string rest = has_place ? whole.substr(prefix.size()) : whole;
  const std::size_t end = rest.find("; ");
  parts.finding = rest.substr(0, end);
  if (end != std::string::npos) parts.remedy = rest.substr(end + 2);
  return {kind, whole, std::move(parts)};
}

/// Passes on what the work shows.
class ShownWork final : public product::Work {
 public:
  ShownWork(Call& call, std::string title) : call_(call), title_(std::move(title)) {
    call_.show(title_, 0, "");
  }
  void show(double share, const std::string& text) override { call_.show(title_, share, text); }

 private:
  Call& call_;
  std::string title_;
};

}  // namespace

product::Context Call::context(std::shared_ptr<const product::InMemory> memory) {
  product::Context context;
  context.cache = options_.cache;
  context.listener = this;
  context.interrupt = this;
  context.memory = std::move(memory);
  for (const auto& [engine, file] : options_.engine_libraries) context.libraries[engine] = file;
  context.settings = options_.engine_settings;
  return context;
}

void Call::rethrow(const std::exception_ptr& thrown) const {
  if (of_listener_) std::rethrow_exception(of_listener_);
  const ErrorKind failed = is_ended() ? ErrorKind::cancelled : ErrorKind::machine;
  try {
    std::rethrow_exception(thrown);
  } catch (const Error&) {
    throw;
  } catch (const InputError& error) {
    throw error_of(ErrorKind::input, error.place(), error.what());
  } catch (const std::bad_alloc&) {
    throw error_of(ErrorKind::machine, "", "the memory does not suffice; free some");
  } catch (const std::exception& error) {
    throw error_of(failed, "", error.what());
  }
}

void Call::tell(const std::function<void(v1::Listener&)>& what) {
  if (options_.listener == nullptr) return;
  const std::lock_guard lock(mutex_);
  if (of_listener_) return;
  try {
    what(*options_.listener);
  } catch (...) {
    of_listener_ = std::current_exception();
  }
}

void Call::note(const std::string& text) {
  tell([&](v1::Listener& listener) { listener.note(with_fields(text)); });
}

bool Call::is_ended() const {
  return options_.cancel.is_cancelled() ||
         (options_.listener != nullptr && options_.listener->wants_to_end());
}

std::unique_ptr<product::Work> Call::begin(const std::string& title) {
  return std::make_unique<ShownWork>(*this, title);
}

void Call::show(const std::string& task, double share, const std::string& text) {
  if (take()) throw EngineError("interrupted; no result was written");
  tell([&](v1::Listener& listener) { listener.progress(task, share, text); });
  if (of_listener_) throw EngineError("the listener ended the work");
}

void refuse(const std::string& text) { throw error_of(ErrorKind::infeasible, "", text); }

}  // namespace millrace::face
