#pragma once
// Values from one real-time thread to another, of any priorities: neither waits, and none is torn.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace millrace::application {

/// What a reader of an edge finds.
template <class Value>
struct FoundValue {
  const Value* value = nullptr;  // until the next read; null: none has been written yet
  bool is_new = false;           // it has not been read before
};

/// One thread writes, one reads.
template <class Value>
class EdgeValues {
 public:
  virtual ~EdgeValues() = default;
  virtual void write(Value value) = 0;
  virtual FoundValue<Value> read() = 0;
  /// Values that nobody read, as newer ones took their place or the queue was full. Any thread.
  std::int64_t unread() const { return unread_; }

 protected:
  std::atomic<std::int64_t> unread_{0};
};

/// The newest one, again until there is another: three slots, of which each side owns one, and the
/// third changes hands.
template <class Value>
class LastValue final : public EdgeValues<Value> {
 public:
  void write(Value value) override {
    slots_[back_] = std::move(value);
    const unsigned before = between_.exchange(back_ | fresh, std::memory_order_acq_rel);
    if ((before & fresh) != 0) ++this->unread_;
    back_ = before & ~fresh;
  }
  FoundValue<Value> read() override {
    const bool is_new = (between_.load(std::memory_order_acquire) & fresh) != 0;
    if (is_new) front_ = between_.exchange(front_, std::memory_order_acq_rel) & ~fresh;
    has_value_ = has_value_ || is_new;
    return {has_value_ ? &slots_[front_] : nullptr, is_new};
  }

 private:
  static constexpr unsigned fresh = 4;  // beside the number of a slot
  std::array<Value, 3> slots_{};
  std::atomic<unsigned> between_{1};
  unsigned back_ = 0, front_ = 2;  // of the writer, of the reader
  bool has_value_ = false;
};

/// Each value in order, and the last one again while there is no other. What is written into a full
/// queue is lost, and counted.
template <class Value>
class ValueQueue final : public EdgeValues<Value> {
 public:
  explicit ValueQueue(std::size_t capacity) : slots_(capacity) {}

  void write(Value value) override {
    const std::uint64_t end = end_.load(std::memory_order_relaxed);
    if (end - begin_.load(std::memory_order_acquire) == slots_.size()) {
      ++this->unread_;
      return;
    }
    slots_[end % slots_.size()] = std::move(value);
    end_.store(end + 1, std::memory_order_release);
  }
  FoundValue<Value> read() override {
    const std::uint64_t begin = begin_.load(std::memory_order_relaxed);
    const bool is_new = begin != end_.load(std::memory_order_acquire);
    if (is_new) {
      current_ = std::move(slots_[begin % slots_.size()]);
      begin_.store(begin + 1, std::memory_order_release);
    }
    has_value_ = has_value_ || is_new;
    return {has_value_ ? &current_ : nullptr, is_new};
  }

 private:
  std::vector<Value> slots_;
  std::atomic<std::uint64_t> begin_{0}, end_{0};
  Value current_{};  // of the reader
  bool has_value_ = false;
};

}  // namespace millrace::application
