#pragma once
// Between a source that does not wait and who works on what it gives.
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace millrace::runtime {

/// What happens when the queue is full: the source waits, or an item is dropped, the one that waits
/// longest or the one that comes.
enum class WhenFull { block, drop_oldest, drop_newest };

struct QueueCounts {
  std::int64_t put = 0;  // by the source, with those dropped
  std::int64_t dropped = 0;
  std::int64_t most = 0;  // that waited at once
};

/// How one source waits in the queue.
struct Lane {
  std::size_t capacity = 1;
  WhenFull when_full = WhenFull::block;
};

/// Any number of threads on both sides. Each source has a lane of its own, so that a fast one takes
/// no place from a slow one; items are taken from the lanes round robin. Every wait ends on
/// close().
template <class Item>
class LiveQueue {
 public:
  explicit LiveQueue(const std::vector<Lane>& lanes) : unfinished_(lanes.size()) {
    for (const Lane& lane : lanes) lanes_.push_back({lane, {}, {}, false});
  }
  /// One lane.
  LiveQueue(std::size_t capacity, WhenFull when_full)
      : LiveQueue(std::vector<Lane>{{capacity, when_full}}) {}

  /// False: closed.
  bool put(Item item, std::size_t number = 0) {
    std::unique_lock lock(mutex_);
    State& lane = lanes_[number];
    const auto has_room = [&] { return lane.items.size() < lane.how.capacity; };
    if (lane.how.when_full == WhenFull::block)
      changed_.wait(lock, [&] { return closed_ || has_room(); });
    if (closed_) return false;
    ++lane.counts.put;
    const bool full = !has_room();
    lane.counts.dropped += full ? 1 : 0;
    if (full && lane.how.when_full == WhenFull::drop_newest) return true;
    if (full) lane.items.pop_front();
    lane.items.push_back(std::move(item));
    lane.counts.most = std::max(lane.counts.most, static_cast<std::int64_t>(lane.items.size()));
    changed_.notify_all();
    return true;
  }

  /// The next one; nothing after finish() of all lanes when all have been taken, after close(), and
  /// between hold() and go_on(). At the end rethrows the first error of a source.
  std::optional<Item> take() {
    std::unique_lock lock(mutex_);
    State* lane = nullptr;
    changed_.wait(lock, [&] {
      lane = next_lane();
      return closed_ || held_ || unfinished_ == 0 || lane != nullptr;
    });
    if (held_) return std::nullopt;
    if (!closed_ && lane != nullptr) return taken_from(*lane);
    if (error_ && !closed_) std::rethrow_exception(std::exchange(error_, nullptr));
    return std::nullopt;
  }

  /// For a real-time thread: the next one, without a wait. Nothing: none is there, or another
  /// thread is at the queue.
  std::optional<Item> take_now() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    State* const lane = lock.owns_lock() && !closed_ ? next_lane() : nullptr;
    if (lane == nullptr) return std::nullopt;
    return taken_from(*lane);
  }

  /// No item will come in this lane; those that wait still arrive. Once for each lane.
  void finish(std::exception_ptr error = {}, std::size_t number = 0) {
    const std::lock_guard lock(mutex_);
    if (std::exchange(lanes_[number].finished, true)) return;
    --unfinished_;
    if (error && !error_) error_ = error;
    changed_.notify_all();
  }
  /// Where the newest is wanted, what waits is dropped, and counted.
  void drop_old() {
    const std::lock_guard lock(mutex_);
    for (State& lane : lanes_) {
      if (lane.how.when_full != WhenFull::drop_oldest) continue;
      lane.counts.dropped += static_cast<std::int64_t>(lane.items.size());
      lane.items.clear();
    }
  }
  /// Who takes gets nothing until go_on(); items come and wait meanwhile.
  void hold() { set_held(true); }
  void go_on() { set_held(false); }
  bool is_held() const {
    const std::lock_guard lock(mutex_);
    return held_;
  }
  /// Ends all waits; what waits is dropped and not counted.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  std::int64_t waiting(std::size_t number = 0) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::int64_t>(lanes_[number].items.size());
  }
  QueueCounts counts(std::size_t number = 0) const {
    const std::lock_guard lock(mutex_);
    return lanes_[number].counts;
  }

 private:
  struct State {
    Lane how;
    std::deque<Item> items;
    QueueCounts counts;
    bool finished = false;
  };

  void set_held(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }
  std::optional<Item> taken_from(State& lane) {
    std::optional<Item> item(std::move(lane.items.front()));
    lane.items.pop_front();
    next_ = static_cast<std::size_t>(&lane - lanes_.data() + 1) % lanes_.size();
    changed_.notify_all();
    return item;
  }
  /// The first from the one after the last; null: all are empty.
  State* next_lane() {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      State& lane = lanes_[(next_ + i) % lanes_.size()];
      if (!lane.items.empty()) return &lane;
    }
    return nullptr;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<State> lanes_;
  std::size_t next_ = 0;    // lane
  std::size_t unfinished_;  // lanes
  bool closed_ = false, held_ = false;
  std::exception_ptr error_;
};

}  // namespace millrace::runtime
