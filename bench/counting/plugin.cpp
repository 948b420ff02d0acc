// A plug-in for QEMU's user mode: how many instructions of 64-bit ARM a program executes.
//
//   qemu-aarch64 -plugin ./counting.so,out=FILE PROGRAM
//
// A program asks with the system call 0x5eed, which no kernel knows. The counts since the last
// call are then a line of FILE, "KIND=NUMBER ...", before the call returns. So the program
// can read them there. All threads count together, and not exactly if several run at once.
//
// QEMU's header for plug-ins is in no package of Debian 12. The names beginning with qemu_plugin
// are of version 1 of its interface, which QEMU 6 to 8 have.
#include <cstdint>
#include <cstdio>
#include <cstring>

#define MILLRACE_EXPORT __attribute__((visibility("default")))

extern "C" {
struct Block;
struct Instruction;
using PluginId = std::uint64_t;
void qemu_plugin_register_vcpu_tb_trans_cb(PluginId, void (*)(PluginId, Block*));
// The callback gets the eight arguments of the call too, which none here reads.
void qemu_plugin_register_vcpu_syscall_cb(PluginId, void (*)(PluginId, unsigned, std::int64_t));
void qemu_plugin_register_vcpu_tb_exec_inline(Block*, int, void*, std::uint64_t);
std::size_t qemu_plugin_tb_n_insns(const Block*);
Instruction* qemu_plugin_tb_get_insn(const Block*, std::size_t);
const void* qemu_plugin_insn_data(const Instruction*);
MILLRACE_EXPORT int qemu_plugin_version = 1;
MILLRACE_EXPORT int qemu_plugin_install(PluginId id, const void* info, int count, char** options);
}

namespace {

constexpr std::int64_t question = 0x5eed;
constexpr int add_number = 0;  // QEMU_PLUGIN_INLINE_ADD_U64

enum Kind { all, vector, loads, stores, branches, products, kinds };
constexpr const char* names[kinds] = {"all", "vector", "loads", "stores", "branches", "products"};
std::uint64_t counts[kinds], before[kinds];
std::FILE* out = nullptr;

/// The bits of a word that say what it is, and their value.
struct Pattern {
  std::uint32_t mask, value;
};
/// Multiply-adds, by section C4.1 of the architecture's manual.
constexpr Pattern multiply_adds[] = {
    {0xbf20fc00, 0x0e20cc00}, {0xbf80b400, 0x0f801000},  // FMLA, FMLS; by an element
    {0xbf60fc00, 0x0e400c00}, {0xbfc0b400, 0x0f001000},  // of 16 bits; by an element
    {0x9f20fc00, 0x0e009400}, {0x9f00f400, 0x0f00e000},  // SDOT, UDOT; by an element
    {0xbf20fc00, 0x0e009c00}, {0xff20f400, 0x4e00a400},  // USDOT; SMMLA, USMMLA
    {0xff20fc00, 0x6e00a400}, {0xbf20fc00, 0x0e209400},  // UMMLA; MLA
    {0x9f20d400, 0x0e208000}, {0x9f00b400, 0x0f002000},  // SMLAL, UMLAL; by an element
    {0xff000000, 0x1f000000}};                           // FMADD

bool is_product(std::uint32_t word) {
  for (const Pattern& pattern : multiply_adds)
    if ((word & pattern.mask) == pattern.value) return true;
  return false;
}

/// Whether an instruction that is a load or a store is a load.
bool is_load(std::uint32_t word) {
  const std::uint32_t form = word >> 28 & 3;
  const bool literal = form == 1 && (word >> 24 & 1) == 0;
  if (literal) return true;
  if (form == 3 && (word >> 26 & 1) == 0) return (word >> 22 & 3) != 0;
  return (word >> 22 & 1) != 0;
}

void add_kinds(std::uint32_t word, std::uint64_t* sums) {
  const std::uint32_t group = word >> 25 & 15;
  ++sums[all];
  if ((group & 7) == 7) {
    ++sums[vector];
    if (is_product(word)) ++sums[products];
  } else if ((group & 5) == 4) {
    ++sums[is_load(word) ? loads : stores];
  } else if ((group & 14) == 10) {
    ++sums[branches];
  }
}

/// What a block will have executed each time that it runs.
void translate(PluginId, Block* block) {
  std::uint64_t sums[kinds] = {};
  for (std::size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, qemu_plugin_insn_data(qemu_plugin_tb_get_insn(block, i)), sizeof word);
    add_kinds(word, sums);
  }
  for (int kind = 0; kind < kinds; ++kind)
    if (sums[kind] != 0)
      qemu_plugin_register_vcpu_tb_exec_inline(block, add_number, &counts[kind], sums[kind]);
}

void answer(PluginId, unsigned, std::int64_t number) {
  if (number != question) return;
  for (int kind = 0; kind < kinds; ++kind)
    std::fprintf(out, "%s=%llu%c", names[kind],
                 static_cast<unsigned long long>(counts[kind] - before[kind]),
                 kind + 1 < kinds ? ' ' : '\n');
  std::fflush(out);
  std::memcpy(before, counts, sizeof before);
}

}  // namespace

int qemu_plugin_install(PluginId id, const void*, int count, char** options) {
  out = stderr;
  for (int i = 0; i < count; ++i)
    if (std::strncmp(options[i], "out=", 4) == 0) out = std::fopen(options[i] + 4, "w");
  if (out == nullptr) return -1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_vcpu_syscall_cb(id, answer);
  return 0;
}
