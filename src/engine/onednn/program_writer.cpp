#include "engine/onednn/program_writer.h"

#include <algorithm>

namespace millrace::engine::onednn {

Value ProgramWriter::make_temporary(const Desc& layout) {
  Storage storage;
  storage.size = onednn::size_of(layout);
  return {new_storage(storage), {}, layout};
}

void ProgramWriter::run(const Kernel& kernel, std::vector<Operand> reads,
                        std::vector<Operand> writes) {
  add(primitive_step(kernel, std::move(reads), std::move(writes)), kernel.name);
}

void ProgramWriter::run_in_place(const Kernel& kernel, std::vector<Operand> reads,
                                 std::vector<Operand> writes) {
  const InPlace wish{reads.front().value.storage, writes.front().value.storage};
  const bool whole = reads.front().value.offset == Bytes{};
  Step& step = add(primitive_step(kernel, std::move(reads), std::move(writes)), kernel.name);
  if (whole) step.in_place = wish;
}

void ProgramWriter::run(const NormalizeWork& work) {
  std::vector<std::size_t> reads;
  for (const Value* read : {&work.from, &work.scale, &work.shift, &work.mean, &work.variance})
    reads.push_back(read->storage);
  add({0, work, std::move(reads), {work.to.storage}, {}}, "normalize");
}

void ProgramWriter::run(const OwnWork& work, const std::string& kernel) {
  Step step{0, work, {work.from.storage}, {work.to.storage}, {}};
  for (const Value& constant : work.constants) step.reads.push_back(constant.storage);
  for (const Value& other : work.others) step.reads.push_back(other.storage);
  if (work.working) step.writes.push_back(work.working->storage);
  add(std::move(step), kernel);
}

void ProgramWriter::run(LoopWork work, const std::string& kernel) {
  Step step;
  for (const auto& [values, storages] :
       {std::pair{&work.reads, &step.reads}, std::pair{&work.writes, &step.writes}})
    for (const auto& value : *values)
      if (value) storages->push_back(value->storage);
  step.work = std::move(work);
  add(std::move(step), kernel);
}

void ProgramWriter::run_in_place(const OwnWork& work, const std::string& kernel) {
  run(work, kernel);
  if (work.from.offset == Bytes{})
    program_.steps.back().in_place = InPlace{work.from.storage, work.to.storage};
}

void ProgramWriter::copy(const CopyWork& work) {
  add({0, work, {work.from.storage}, {work.to.storage}, {}}, "copy");
}

void ProgramWriter::copy_in_place(const Value& from, const Value& to) {
  const auto bytes = static_cast<std::size_t>(onednn::size_of(to.desc).count);
  copy({from, to, 1, bytes, 0, 0});
  if (from.offset != Bytes{}) return;
  program_.steps.back().in_place = InPlace{from.storage, to.storage};
  program_.steps.back().needless_in_place = true;
}

void ProgramWriter::copy_part(const Value& from, const Value& to) {
  const auto bytes = static_cast<std::size_t>(onednn::size_of(from.desc).count);
  copy({from, to, 1, bytes, 0, 0});
  if (from.offset != Bytes{}) return;
  Step& step = program_.steps.back();
  step.in_place = InPlace{from.storage, to.storage, to.offset};
  step.needless_in_place = step.is_part = true;
}

Value ProgramWriter::keep(std::span<const std::byte> numbers, const Desc& desc) {
  auto packed = std::make_shared<Packed>();
  packed->memory = network::Buffer::uninitialized(onednn::size_of(desc));
  packed->layout = desc;
  std::copy(numbers.begin(), numbers.end(), packed->memory.data());
  Storage storage{Storage::Place::constant, 0, onednn::size_of(desc), packed->data(), packed};
  return {new_storage(storage), {}, desc};
}

Value ProgramWriter::keep(const std::vector<float>& numbers) {
  return keep(std::as_bytes(std::span(numbers)),
              plain_desc({static_cast<std::int64_t>(numbers.size())}));
}

Step& ProgramWriter::add(Step step, const std::string& kernel) {
  step.group = program_.groups.size() - 1;
  std::string& name = program_.groups.back().kernel;
  const auto is_main = [](const std::string& each) { return each != "reorder" && each != "copy"; };
  if (name.empty() || (is_main(kernel) && !is_main(name))) name = kernel;
  program_.steps.push_back(std::move(step));
  return program_.steps.back();
}

Step ProgramWriter::primitive_step(const Kernel& kernel, std::vector<Operand> reads,
                                   std::vector<Operand> writes) {
  if (kernel.scratchpad().get_size() > 0)
    writes.push_back({DNNL_ARG_SCRATCHPAD, make_temporary(kernel.scratchpad())});
  if (kernel.given_scales)
    reads.push_back({kernel.given_scales->argument, keep(kernel.given_scales->factors)});
  for (const GivenZero& given : kernel.given_zeros)
    reads.push_back({given.argument, keep(std::as_bytes(std::span(&given.zero, 1)),
                                          row_major_desc({1}, Type::s32))});
  Step step;
  for (const Operand& operand : reads) step.reads.push_back(operand.value.storage);
  for (const Operand& operand : writes) step.writes.push_back(operand.value.storage);
  step.work = PrimitiveWork{kernel, std::move(reads), std::move(writes)};
  return step;
}

void ProgramWriter::give_out(const Value& value, std::size_t port, Bytes size) {
  Storage& storage = program_.storages[value.storage];
  if (storage.place == Storage::Place::arena && storage.size == size) {
    storage.place = Storage::Place::output;
    storage.port = port;
  } else {
    const Value copied{new_storage({Storage::Place::output, port, size, nullptr, nullptr}), {}, {}};
    copy({value, copied, 1, static_cast<std::size_t>(size.count), 0, 0});
  }
}

Program ProgramWriter::finish() {
  for (StepGroup& group : program_.groups)
    if (group.kernel.empty()) group.kernel = "none";
  return std::move(program_);
}

}  // namespace millrace::engine::onednn
