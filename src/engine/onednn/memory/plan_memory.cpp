#include <algorithm>
#include <utility>

#include "engine/arena.h"
#include "engine/onednn/program.h"

namespace millrace::engine::onednn {
namespace {

using Place = Storage::Place;

struct Life {
  std::size_t first = 0, last = 0;
  bool used = false;

  void touch(std::size_t step) {
    first = used ? std::min(first, step) : step;
    last = used ? std::max(last, step) : step;
    used = true;
  }
  void join(const Life& other) {
    touch(other.first);
    touch(other.last);
  }
};

std::vector<Life> lives_of(const Program& program, const std::vector<std::size_t>& root) {
  std::vector<Life> lives(program.storages.size());
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    for (const std::size_t storage : program.steps[s].reads) lives[root[storage]].touch(s);
    for (const std::size_t storage : program.steps[s].writes) lives[root[storage]].touch(s);
  }
  return lives;
}

/// Shares places, in the order of the steps. Chains of thousands of layers share one.
class Merger {
 public:
  explicit Merger(const Program& program)
      : program_(program), lies_in_(program.storages.size()), shifts_(program.storages.size()) {
    for (std::size_t i = 0; i < lies_in_.size(); ++i) lies_in_[i] = i;
    lives_ = lives_of(program, lies_in_);
  }

  bool merge(std::size_t step) {
    const InPlace& wish = *program_.steps[step].in_place;
    const std::size_t from = root(wish.from), to = root(wish.to);
    const bool fits = program_.steps[step].is_part ? is_free_part(step) : is_last_use(step);
    if (from == to || !may_lie_in(from, to) || !fits) return false;
    lies_in_[from] = to;
    shifts_[from] = wish.offset + shift(wish.to);
    lives_[to].join(lives_[from]);
    return true;
  }

  std::size_t root(std::size_t storage) {
    shorten(storage);
    return lies_in_[storage];
  }
  Bytes shift(std::size_t storage) {
    shorten(storage);
    return shifts_[storage];
  }

 private:
  /// All storages on the way to the root then lie in the root itself.
  void shorten(std::size_t storage) {
    std::size_t top = storage;
    Bytes shift;
    for (; lies_in_[top] != top; top = lies_in_[top]) shift += shifts_[top];
    while (storage != top) {
      const std::size_t next = std::exchange(lies_in_[storage], top);
      const Bytes own = std::exchange(shifts_[storage], shift);
      shift = shift - own;
      storage = next;
    }
  }

  bool may_lie_in(std::size_t from, std::size_t to) const {
    const Place place = program_.storages[to].place;
    return program_.storages[from].place == Place::arena &&
           (place == Place::arena || place == Place::output);
  }

  /// Nobody reads the old content later, nobody wrote the new place earlier, and the step reads
  /// the old content at one position only.
  bool is_last_use(std::size_t step) {
    const InPlace& wish = *program_.steps[step].in_place;
    const std::size_t from = root(wish.from), to = root(wish.to);
    const auto& reads = program_.steps[step].reads;
    const auto is_from = [&](std::size_t storage) { return root(storage) == from; };
    return program_.storages[from].size == program_.storages[to].size &&
           lives_[from].last == step && lives_[to].first == step &&
           std::count_if(reads.begin(), reads.end(), is_from) == 1;
  }

  /// The bytes are nobody else's: the old content may be read there as long as one likes, for the
  /// joint life keeps what comes after the whole from being written over it.
  bool is_free_part(std::size_t step) {
    const InPlace& wish = *program_.steps[step].in_place;
    const auto bytes = std::get<CopyWork>(program_.steps[step].work).bytes;
    const Bytes offset = wish.offset + shift(wish.to);
    return program_.storages[root(wish.from)].size.count == static_cast<std::int64_t>(bytes) &&
           offset.count % static_cast<std::int64_t>(network::tensor_alignment) == 0;
  }

  const Program& program_;
  std::vector<std::size_t> lies_in_;  // by storage: itself, or what it shares the place of
  std::vector<Bytes> shifts_;         // by storage: behind the beginning of that
  std::vector<Life> lives_;
};

Bytes naive_size(const Program& program) {
  Bytes sum;
  for (const Storage& storage : program.storages)
    if (storage.place == Place::arena) sum += storage.size;
  return sum;
}

}  // namespace

MemoryPlan plan_memory(Program& program) {
  Merger merger(program);
  std::vector<bool> needless(program.steps.size());
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    if (program.steps[s].in_place)
      needless[s] = merger.merge(s) && program.steps[s].needless_in_place;
  // In place: steps are large.
  std::size_t kept = 0;
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    if (!needless[s] && kept++ != s) program.steps[kept - 1] = std::move(program.steps[s]);
  program.steps.resize(kept);

  MemoryPlan plan;
  for (std::size_t i = 0; i < program.storages.size(); ++i) {
    plan.root.push_back(merger.root(i));
    plan.shifts.push_back(merger.shift(i));
  }
  plan.offsets.resize(program.storages.size());
  plan.naive = naive_size(program);
  const auto lives = lives_of(program, plan.root);
  std::vector<std::size_t> owners;
  std::vector<BufferLife> buffers;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    if (!lives[i].used || program.storages[i].place != Place::arena) continue;
    owners.push_back(i);
    buffers.push_back({program.storages[i].size, lives[i].first, lives[i].last});
  }
  const ArenaPlan arena = plan_arena(buffers);
  for (std::size_t i = 0; i < owners.size(); ++i) plan.offsets[owners[i]] = arena.offsets[i];
  plan.arena = arena.size;
  return plan;
}

}  // namespace millrace::engine::onednn
