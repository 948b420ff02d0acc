#include <algorithm>

#include "engine/onednn/arena.h"
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
  explicit Merger(const Program& program) : program_(program), root_(program.storages.size()) {
    for (std::size_t i = 0; i < root_.size(); ++i) root_[i] = i;
    lives_ = lives_of(program, root_);
  }

  bool merge(std::size_t step) {
    const InPlace& wish = *program_.steps[step].in_place;
    const std::size_t from = root_[wish.from], to = root_[wish.to];
    if (!allowed(step, from, to)) return false;
    std::replace(root_.begin(), root_.end(), from, to);
    lives_[to].join(lives_[from]);
    return true;
  }
  const std::vector<std::size_t>& root() const { return root_; }

 private:
  bool allowed(std::size_t step, std::size_t from, std::size_t to) const {
    const Storage &a = program_.storages[from], &b = program_.storages[to];
    if (from == to || a.place != Place::arena || a.size != b.size) return false;
    if (b.place != Place::arena && b.place != Place::output) return false;
    // Nobody reads the old content later, nobody wrote the new place earlier, and the step reads
    // the old content at one position only.
    const auto& reads = program_.steps[step].reads;
    const auto is_from = [&](std::size_t storage) { return root_[storage] == from; };
    return lives_[from].last == step && lives_[to].first == step &&
           std::count_if(reads.begin(), reads.end(), is_from) == 1;
  }

  const Program& program_;
  std::vector<std::size_t> root_;
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

  MemoryPlan plan{merger.root(), std::vector<Bytes>(program.storages.size()), {}, {}};
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
