#include "execution.h"

#include <cstdint>

// The x86 returns with a jump, as processors expect a return where the last call was.
#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 4
  .globl emulated_change_stack
  .hidden emulated_change_stack
  .type emulated_change_stack, @function
emulated_change_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmp *%rcx
  .size emulated_change_stack, .-emulated_change_stack
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .p2align 4
  .globl emulated_change_stack
  .hidden emulated_change_stack
  .type emulated_change_stack, %function
emulated_change_stack:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .size emulated_change_stack, .-emulated_change_stack
)");
#endif

namespace emulated {

#if defined(__x86_64__) || defined(__aarch64__)

#if defined(__x86_64__)
// Six registers, the entry's address, and a return address of zero, where debuggers stop. A
// function begins 8 bytes after a multiple of 16.
constexpr std::size_t words = 8, entry_at = 6;
#else
constexpr std::size_t words = 20, entry_at = 11;  // x30
#endif

Execution::Execution(std::span<std::byte> stack, void (*entry)()) {
  const auto end = reinterpret_cast<std::uintptr_t>(stack.data() + stack.size());
  auto* const frame = reinterpret_cast<std::uintptr_t*>(end & ~std::uintptr_t{15}) - words;
  for (std::size_t i = 0; i < words; ++i) frame[i] = 0;
  frame[entry_at] = reinterpret_cast<std::uintptr_t>(entry);
  stack_pointer_ = frame;
}

#else

Execution::Execution(std::span<std::byte> stack, void (*entry)()) {
  ::getcontext(&context_);
  context_.uc_stack.ss_sp = stack.data();
  context_.uc_stack.ss_size = stack.size();
  context_.uc_link = nullptr;
  ::makecontext(&context_, entry, 0);
}

#endif

}  // namespace emulated
