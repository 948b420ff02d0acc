#include "engine/onednn/subnet.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "engine/onednn/threads/team.h"
#include "kernels/normalize.h"
#include "network/evaluate/evaluate.h"

namespace millrace::engine::onednn {
namespace {

using Clock = std::chrono::steady_clock;
using Place = Storage::Place;

/// A primitive with its operands, ready to run: no map is built and nothing allocated per run.
struct PrimitiveCall {
  dnnl::primitive primitive;
  std::vector<dnnl::memory> memories;  // owns what `arguments` points to
  std::vector<dnnl_exec_arg_t> arguments;
};
struct LoopCall {
  const network::Layer* layer = nullptr;
  std::vector<network::ConstView> reads;
  std::vector<network::View> writes;
  PlainLoop own;
};
struct CopyCall {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t count = 0, bytes = 0, from_stride = 0, to_stride = 0;
};
struct NormalizeCall {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t count = 0, stride = 0;  // numbers
  const std::byte *mean = nullptr, *variance = nullptr, *scale = nullptr, *shift = nullptr;
  float epsilon = 0;
  bool relu = false;
  std::vector<float> factors;  // by channel; written by each run
};
struct OwnCall {
  OwnPlaces places;
  std::function<void(const OwnPlaces& places)> run;
};
struct Call {
  std::size_t group = 0;
  std::variant<PrimitiveCall, LoopCall, CopyCall, NormalizeCall, OwnCall> work;
};

/// Somewhere that a port's pointer is written to when it changes.
struct Slot {
  std::size_t port = 0;
  bool is_output = false;
  Bytes offset;
  dnnl_memory_t memory = nullptr;  // either this, or one of the next two
  const std::byte** read = nullptr;
  std::byte** write = nullptr;
};

/// Copies one cut of one piece; `i` counts the cuts of all pieces.
void copy_cut(const CopyCall& call, std::size_t i, std::size_t cuts) {
  const std::size_t piece = i / cuts, begin = call.bytes * (i % cuts) / cuts;
  const std::size_t end = call.bytes * (i % cuts + 1) / cuts;
  std::memcpy(call.to + piece * call.to_stride + begin,
              call.from + piece * call.from_stride + begin, end - begin);
}

void copy(const CopyCall& call) {
  constexpr std::size_t worth_sharing = 1 << 16;  // bytes
  if (call.count * call.bytes < worth_sharing) {
    for (std::size_t i = 0; i < call.count; ++i) copy_cut(call, i, 1);
    return;
  }
  // One large piece is work for several cores too.
  const std::size_t cuts = std::max<std::size_t>(1, call.bytes / worth_sharing);
  const auto count = static_cast<std::ptrdiff_t>(call.count * cuts);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t i = 0; i < count; ++i) copy_cut(call, static_cast<std::size_t>(i), cuts);
}

void normalize(NormalizeCall& call) {
  const auto by_channel = [&](const std::byte* data) {
    return std::span(reinterpret_cast<const float*>(data), call.factors.size());
  };
  kernels::write_factors(by_channel(call.scale), by_channel(call.variance), call.epsilon,
                         call.factors);
  const kernels::ChannelMap map{by_channel(call.mean), call.factors, by_channel(call.shift),
                                call.relu};
  kernels::normalize(reinterpret_cast<const float*>(call.from), call.stride, map,
                     {reinterpret_cast<float*>(call.to), call.count});
}

void run_loops(const LoopCall& call) {
  if (call.own)
    call.own(call.reads, call.writes);
  else
    network::evaluate(*call.layer, call.reads, call.writes);
}

class OneDnnSubnet final : public Subnet {
 public:
  OneDnnSubnet(const dnnl::engine& engine, Prepared prepared)
      : engine_(engine), stream_(engine), prepared_(std::move(prepared)) {
    plan_ = plan_memory(prepared_.program);
    // Never empty: its address also stands for that of constants without elements.
    arena_ = network::Buffer(std::max(plan_.arena, Bytes{1}));
    calls_.reserve(prepared_.program.steps.size());
    for (const Step& step : prepared_.program.steps) add(step);
    current_in_.assign(prepared_.inputs.size(), nullptr);
    current_out_.assign(prepared_.outputs.size(), nullptr);
  }

  std::span<const Port> inputs() const override { return prepared_.inputs; }
  std::span<const Port> outputs() const override { return prepared_.outputs; }

  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override {
    run_on(prepared_.cores, [&] {
      bind(in, out);
      for (Call& call : calls_) execute(call);
    });
  }

  std::vector<GroupTime> run_timed(std::span<const std::byte* const> in,
                                   std::span<std::byte* const> out) override {
    std::vector<GroupTime> times;
    for (const StepGroup& group : prepared_.program.groups)
      times.push_back({group.layers, group.kernel, Time{}});
    run_on(prepared_.cores, [&] {
      bind(in, out);
      auto before = Clock::now();
      for (Call& call : calls_) {
        execute(call);
        const auto after = Clock::now();
        times[call.group].time += std::chrono::duration_cast<Time>(after - before);
        before = after;
      }
    });
    return times;
  }

  Memory memory() const override {
    Memory result{plan_.arena, plan_.naive, {}, moved_bytes(prepared_.program), {}};
    for (const StepGroup& group : prepared_.program.groups)
      result.moved_layer_by_layer += moved_layer_by_layer(*prepared_.network, group.layers);
    std::unordered_set<const std::byte*> seen;
    for (const Storage& storage : prepared_.program.storages)
      if (storage.place == Place::constant && seen.insert(storage.constant).second)
        result.weights += storage.size;
    return result;
  }

 private:
  void add(const Step& step) {
    calls_.push_back({step.group, {}});
    std::visit([&](const auto& work) { add(calls_.back(), work); }, step.work);
  }

  void add(Call& call, const PrimitiveWork& work) {
    auto& made = call.work.emplace<PrimitiveCall>();
    made.primitive = generate(work.kernel);
    for (const auto* operands : {&work.reads, &work.writes})
      for (const Operand& operand : *operands) {
        // Pointers of ports come with each run.
        std::byte* const data = address(operand.value);
        void* const handle = data ? data : DNNL_MEMORY_NONE;
        made.memories.emplace_back(operand.value.desc, engine_, handle);
        made.arguments.push_back({operand.argument, made.memories.back().get()});
        Slot slot;
        slot.memory = made.memories.back().get();
        watch(operand.value, slot);
      }
  }

  void add(Call& call, const LoopWork& work) {
    auto& made = call.work.emplace<LoopCall>();
    made.layer = work.layer;
    made.own = work.own;
    made.reads.resize(work.reads.size());
    made.writes.resize(work.writes.size());
    for (std::size_t i = 0; i < work.reads.size(); ++i) {
      if (!work.reads[i]) continue;
      const network::Tensor& tensor = (*prepared_.network)[work.layer->inputs[i]];
      made.reads[i] = {tensor.type, tensor.shape, address(*work.reads[i])};
      Slot slot;
      slot.read = &made.reads[i].data;
      watch(*work.reads[i], slot);
    }
    for (std::size_t i = 0; i < work.writes.size(); ++i) {
      if (!work.writes[i]) continue;
      const network::Tensor& tensor = (*prepared_.network)[work.layer->outputs[i]];
      made.writes[i] = {tensor.type, tensor.shape, address(*work.writes[i])};
      Slot slot;
      slot.write = &made.writes[i].data;
      watch(*work.writes[i], slot);
    }
  }

  void add(Call& call, const CopyWork& work) {
    auto& made =
        call.work.emplace<CopyCall>(CopyCall{address(work.from), address(work.to), work.count,
                                             work.bytes, work.from_stride, work.to_stride});
    watch_both(work, made);
  }

  void add(Call& call, const NormalizeWork& work) {
    auto& made = call.work.emplace<NormalizeCall>();
    made.from = address(work.from);
    made.to = address(work.to);
    made.count = static_cast<std::size_t>(size_of(work.to.desc).count) / sizeof(float);
    made.stride = pixel_stride(work.from.desc);
    made.epsilon = work.epsilon;
    made.relu = work.relu;
    made.factors.resize(static_cast<std::size_t>(dims_of(work.to.desc)[1]));
    watch_both(work, made);
    watch_parameter(work.mean, made.mean);
    watch_parameter(work.variance, made.variance);
    watch_parameter(work.scale, made.scale);
    watch_parameter(work.shift, made.shift);
  }

  void add(Call& call, const OwnWork& work) {
    OwnPlaces places{address(work.from), address(work.to), nullptr};
    if (work.working) places.working = address(*work.working);
    auto& made = call.work.emplace<OwnCall>(OwnCall{places, work.run});
    watch_both(work, made.places);
    for (std::size_t i = 0; i < work.others.size(); ++i)
      watch_parameter(work.others[i], made.places.others[i]);
  }

  void watch_parameter(const Value& value, const std::byte*& pointer) {
    pointer = address(value);
    Slot slot;
    slot.read = &pointer;
    watch(value, slot);
  }

  template <class Work, class Made>
  void watch_both(const Work& work, Made& made) {
    Slot from, to;
    from.read = &made.from;
    to.write = &made.to;
    watch(work.from, from);
    watch(work.to, to);
  }

  const Storage& storage_of(const Value& value) const {
    return prepared_.program.storages[plan_.root[value.storage]];
  }

  /// Behind the beginning of storage_of(value).
  Bytes offset_of(const Value& value) const { return plan_.shifts[value.storage] + value.offset; }

  /// Null for what lies in a port's memory.
  std::byte* address(const Value& value) {
    const Storage& storage = storage_of(value);
    if (storage.place == Place::arena)
      return arena_.data() + (plan_.offsets[plan_.root[value.storage]] + offset_of(value)).count;
    if (storage.place != Place::constant) return nullptr;
    // An empty constant may have no memory; nobody looks into it, but null means left out.
    const std::byte* const data = storage.constant ? storage.constant : arena_.data();
    return const_cast<std::byte*>(data) + value.offset.count;  // oneDNN takes no const pointers
  }

  void watch(const Value& value, Slot slot) {
    const Storage& storage = storage_of(value);
    if (storage.place != Place::input && storage.place != Place::output) return;
    slot.port = storage.port;
    slot.is_output = storage.place == Place::output;
    slot.offset = offset_of(value);
    slots_.push_back(slot);
  }

  void bind(std::span<const std::byte* const> in, std::span<std::byte* const> out) {
    for (const Slot& slot : slots_) {
      const std::byte* const data = slot.is_output ? out[slot.port] : in[slot.port];
      if (data != (slot.is_output ? current_out_[slot.port] : current_in_[slot.port]))
        set(slot, const_cast<std::byte*>(data) + slot.offset.count);
    }
    std::copy(in.begin(), in.end(), current_in_.begin());
    std::copy(out.begin(), out.end(), current_out_.begin());
  }

  void set(const Slot& slot, std::byte* data) const {
    if (slot.read) *slot.read = data;
    if (slot.write) *slot.write = data;
    if (slot.memory && !set_address(slot.memory, data, stream_))
      throw EngineError("oneDNN does not take the memory of a subnet's border");
  }

  void execute(Call& call) {
    if (const auto* primitive = std::get_if<PrimitiveCall>(&call.work)) {
      const auto status = dnnl_primitive_execute(primitive->primitive.get(), stream_.get(),
                                                 static_cast<int>(primitive->arguments.size()),
                                                 primitive->arguments.data());
      if (status != dnnl_success) fail(call, status);
    } else if (const auto* loops = std::get_if<LoopCall>(&call.work)) {
      run_loops(*loops);
    } else if (auto* normalizing = std::get_if<NormalizeCall>(&call.work)) {
      normalize(*normalizing);
    } else if (const auto* own = std::get_if<OwnCall>(&call.work)) {
      own->run(own->places);
    } else {
      copy(std::get<CopyCall>(call.work));
    }
  }

  [[noreturn]] void fail(const Call& call, dnnl_status_t status) const {
    const StepGroup& group = prepared_.program.groups[call.group];
    throw EngineError((*prepared_.network)[group.layers.front()].name + ": oneDNN's kernel " +
                      group.kernel + " failed with status " + std::to_string(status));
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  Prepared prepared_;
  MemoryPlan plan_;
  network::Buffer arena_;
  std::vector<Call> calls_;
  std::vector<Slot> slots_;
  std::vector<const std::byte*> current_in_, current_out_;
};

}  // namespace

std::unique_ptr<Subnet> make_subnet(const dnnl::engine& engine, Prepared prepared) {
  return std::make_unique<OneDnnSubnet>(engine, std::move(prepared));
}

}  // namespace millrace::engine::onednn
