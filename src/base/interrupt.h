#pragma once
// Work that others may end early: threads stop, no half-written file stays behind. Nothing here
// touches the signals of the process: its main function does, if it wishes.
#include <atomic>

namespace millrace {

/// Who asks work to end early, such as a user with Ctrl-C. Any thread calls any function.
class Interrupt {
 public:
  virtual ~Interrupt() = default;
  /// Whether work that looks at it is to end. May say so once, or from then on.
  virtual bool take() = 0;
  /// Such work begins, and it is over. Any number may be on at the same time.
  virtual void begin() {}
  virtual void end() {}
};

/// For a program: ask() ends all work that was given this. Also callable in a signal handler.
class InterruptSwitch final : public Interrupt {
 public:
  void ask() noexcept { asked_ = true; }
  bool take() override { return asked_; }

 private:
  std::atomic<bool> asked_{false};
  static_assert(std::atomic<bool>::is_always_lock_free);
};

/// While one lives, work looks at its interrupt, which is borrowed; null: nobody interrupts.
class InterruptGuard {
 public:
  explicit InterruptGuard(Interrupt* interrupt) : interrupt_(interrupt) {
    if (interrupt_ != nullptr) interrupt_->begin();
  }
  ~InterruptGuard() {
    if (interrupt_ != nullptr) interrupt_->end();
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Throws EngineError "interrupted ..." if it is to end.
  void check() const;
  /// Whether it is to end; for what ends by itself then.
  bool take() const { return interrupt_ != nullptr && interrupt_->take(); }

 private:
  Interrupt* interrupt_;
};

/// Interrupt of the files that this process writes: begin() and end() stand around each until it is
/// whole or removed. For main functions, before anything is written; no library function calls it.
void set_interrupt_of_files(Interrupt* interrupt);
Interrupt* interrupt_of_files();

}  // namespace millrace
