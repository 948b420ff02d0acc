#include <algorithm>

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

/// Shares places, in the order of the steps.
class Merger {
 public:
  explicit Merger(const Program& program)
      : program_(program), root_(program.storages.size()), shifts_(program.storages.size()) {
    for (std::size_t i = 0; i < root_.size(); ++i) root_[i] = i;
    lives_ = lives_of(program, root_);
  }

  bool merge(std::size_t step) {
    const InPlace& wish = *program_.steps[step].in_place;
    const std::size_t from = root_[wish.from], to = root_[wish.to];
    const bool fits = program_.steps[step].is_part ? is_free_part(step) : is_last_use(step);
    if (from == to || !may_lie_in(from, to) || !fits) return false;
    const Bytes offset = wish.offset + shifts_[wish.to];
    for (std::size_t i = 0; i < root_.size(); ++i) {
      if (root_[i] != from) continue;
      root_[i] = to;
      shifts_[i] += offset;
    }
    lives_[to].join(lives_[from]);
    return true;
  }
  const std::vector<std::size_t>& root() const { return root_; }
  const std::vector<Bytes>& shifts() const { return shifts_; }

 private:
  bool may_lie_in(std::size_t from, std::size_t to) const {
    const Place place = program_.storages[to].place;
    return program_.storages[from].place == Place::arena &&
           (place == Place::arena || place == Place::output);
  }

  /// Nobody reads the old content later, nobody wrote the new place earlier, and the step reads
  /// the old content at one position only.
  bool is_last_use(std::size_t step) const {
    const InPlace& wish = *program_.steps[step].in_place;
    const std::size_t from = root_[wish.from], to = root_[wish.to];
    const auto& reads = program_.steps[step].reads;
    const auto is_from = [&](std::size_t storage) { return root_[storage] == from; };
    return program_.storages[from].size == program_.storages[to].size &&
           lives_[from].last == step && lives_[to].first == step &&
           std::count_if(reads.begin(), reads.end(), is_from) == 1;
  }

  /// The bytes are nobody else's: the old content may be read there as long as one likes, for the
  /// joint life keeps what comes after the whole from being written over it.
  bool is_free_part(std::size_t step) const {
    const InPlace& wish = *program_.steps[step].in_place;
    const auto bytes = std::get<CopyWork>(program_.steps[step].work).bytes;
    const Bytes offset = wish.offset + shifts_[wish.to];
    return program_.storages[root_[wish.from]].size.count == static_cast<std::int64_t>(bytes) &&
           offset.count % static_cast<std::int64_t>(network::tensor_alignment) == 0;
  }

  const Program& program_;
  std::vector<std::size_t> root_;
  std::vector<Bytes> shifts_;
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
  std::vector<Step> kept;
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    if (!needless[s]) kept.push_back(std::move(program.steps[s]));
  program.steps = std::move(kept);

  MemoryPlan plan{
      merger.root(), merger.shifts(), std::vector<Bytes>(program.storages.size()), {}, {}};
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
