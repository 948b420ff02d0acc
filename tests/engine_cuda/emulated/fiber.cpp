#include "fiber.h"

#include <sys/mman.h>

#include <new>

namespace emulated {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024;  // the system provides what is written to
constexpr std::size_t guard_bytes = 64 * 1024;   // a multiple of every system's page

/// A stack that grows too far faults, as what lies below it cannot be written.
void* stack_memory() {
  void* const memory = ::mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  ::mprotect(memory, guard_bytes, PROT_NONE);
  return memory;
}

std::span<std::byte> stack_in(void* memory) {
  return {static_cast<std::byte*>(memory) + guard_bytes, stack_bytes};
}

}  // namespace

Fiber::Fiber(void (*body)())
    : body_(body), memory_(stack_memory()), inside_(stack_in(memory_), enter) {
  inside_stack_.begin = stack_in(memory_).data();
  inside_stack_.bytes = stack_bytes;
  prepare(inside_stack_);
}

Fiber::~Fiber() { ::munmap(memory_, guard_bytes + stack_bytes); }

void Fiber::enter() {
  after_change(running_->inside_stack_, running_->outside_stack_);
  running_->body_();
}

}  // namespace emulated
