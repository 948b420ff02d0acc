#pragma once
// Work on items that need not wait for each other, by several threads, with the items kept in
// order.
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::runtime {

/// One item: what any thread does with it, and what is done in the order of the items.
struct Job {
  std::function<void()> work;
  std::function<bool()> give;  // false: nobody wants more, and the pool ends
};

struct PoolOptions {
  std::string name = "pool";
  int threads = 1;
  std::vector<int> cores = {};  // that the threads are bound to together; empty: none
  /// Called once, by the last thread that leaves, with the error if there was one. Must not throw.
  std::function<void(std::exception_ptr)> at_end = {};
};

/// Each thread takes an item, works on it and waits for its turn to give it: so there are never
/// more items than threads, and whoever gives slowly slows down whoever takes. An exception of an
/// item comes out when all items before it have been given, and none behind it is. Drawn in
/// docs/methods/runtime.md.
class Pool {
 public:
  /// The next item; nothing: the end. One thread at a time.
  using Take = std::function<std::optional<Job>()>;

  /// EngineError if a thread cannot be made or bound.
  Pool(Take take, PoolOptions options);
  /// Stops.
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Waits until all threads have left; rethrows the first error.
  void wait();
  /// The same for so long at most; false: they have not all left.
  bool wait_for(std::chrono::milliseconds time);
  /// No item is given any more; items on their way are dropped. A `take` or `give` that waits has
  /// to be ended by whom it waits for. Does not wait for the threads.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::runtime
