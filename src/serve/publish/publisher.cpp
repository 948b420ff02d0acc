#include "serve/publish/publisher.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "application/live/delivery.h"
#include "application/sink.h"
#include "base/error.h"
#include "serve/publish/mosquitto.h"
#include "serve/streams.h"

namespace millrace::serve {
namespace {

constexpr std::int64_t most_waiting = 10'000;  // lines without the broker's acknowledgement
constexpr std::chrono::seconds broker_patience{5};
constexpr std::chrono::milliseconds patience_without_broker{500};  // it may be back
constexpr int keep_alive_s = 30;
constexpr int at_least_once = 1;

/// What has a meaning in topics is none of a group's name.
std::string topic_of(const Broker& broker, const application::Outcome& outcome) {
  if (!outcome.times) return broker.topic;
  std::string group = outcome.times->group;
  std::ranges::replace_if(
      group, [](char each) { return std::strchr("/+#", each); }, '_');
  return broker.topic + "/" + group;
}

}  // namespace

struct Publisher::State {
  State(Broker broker_of, Note note_of) : broker(std::move(broker_of)), note(std::move(note_of)) {}

  const Broker broker;
  const Note note;
  std::unique_ptr<Mosquitto> client = {};

  std::mutex mutex = {};  // of what follows; the client's thread and those of groups come too
  Streams streams = {};
  std::condition_variable moment = {};
  std::optional<int> answer = {};  // of the broker to the first connection; 0: it took us
  bool is_connected = false;
  std::int64_t published = 0, acknowledged = 0, dropped = 0;

  MosquittoEvents events() {
    MosquittoEvents events;
    events.connected = [this](int code) { connected(code); };
    events.disconnected = [this] { disconnected(); };
    events.acknowledged = [this] {
      const std::lock_guard lock(mutex);
      ++acknowledged;
      moment.notify_all();
    };
    return events;
  }
  void connected(int code) {
    const std::lock_guard lock(mutex);
    if (answer && code == 0) note(fmt::format("{} is back", to_text(broker)));
    answer = answer.value_or(code);
    is_connected = code == 0;
    moment.notify_all();
  }
  void disconnected() {
    const std::lock_guard lock(mutex);
    if (is_connected) note(fmt::format("{} is gone; lines wait for it", to_text(broker)));
    is_connected = false;
  }
};

Publisher::Publisher(const Broker& broker, Note note)
    : state_(std::make_unique<State>(broker, std::move(note))) {
  state_->client = std::make_unique<Mosquitto>(state_->events());
  const std::string fault = state_->client->connect(
      {broker.host, broker.port, broker.user, broker.password, keep_alive_s});
  if (!fault.empty())
    throw EngineError(
        fmt::format("{}: the broker cannot be reached: {}; is it running, and does "
                    "it listen there?",
                    to_text(broker), fault));
  std::unique_lock lock(state_->mutex);
  const bool answered =
      state_->moment.wait_for(lock, broker_patience, [&] { return state_->answer.has_value(); });
  if (answered && *state_->answer == 0) return;
  const std::string reason =
      answered ? state_->client->text_of_answer(*state_->answer) : "it does not answer";
  lock.unlock();
  state_->client.reset();
  throw EngineError(
      fmt::format("{}: the broker refuses the connection: {}", to_text(broker), reason));
}

Publisher::~Publisher() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_connected = false;  // that it goes now is no news
  }
  state_->client.reset();
}

void Publisher::begun(const application::AtWork& work) {
  const std::lock_guard lock(state_->mutex);
  state_->streams = Streams(work);
}

void Publisher::begun(const application::DeploymentAtWork& work) {
  const std::lock_guard lock(state_->mutex);
  state_->streams = Streams(work);
  for (const auto& group : work.groups)
    if (group.delivery == nullptr || group.delivery->application() == nullptr)
      state_->note(
          fmt::format("group '{}' has no application, so nothing is published of it", group.name));
}

void Publisher::take(const application::Outcome& outcome) {
  std::unique_lock lock(state_->mutex);
  const application::Labels labels = state_->streams.labels_of(outcome);
  lock.unlock();
  std::string line = application::json_line(outcome, labels);
  line.pop_back();
  lock.lock();
  if (state_->published - state_->acknowledged >= most_waiting) {
    ++state_->dropped;
    return;
  }
  ++state_->published;
  lock.unlock();
  if (state_->client->publish(topic_of(state_->broker, outcome), line, at_least_once)) return;
  lock.lock();
  --state_->published;
  ++state_->dropped;
}

void Publisher::ended() {
  std::unique_lock lock(state_->mutex);
  const auto patience = state_->is_connected ? broker_patience : patience_without_broker;
  state_->moment.wait_for(lock, patience,
                          [&] { return state_->acknowledged >= state_->published; });
  const std::int64_t lost = state_->published - state_->acknowledged + state_->dropped;
  if (lost > 0)
    state_->note(fmt::format("{} did not get {} of {} lines", to_text(state_->broker), lost,
                             state_->published + state_->dropped));
}

}  // namespace millrace::serve
