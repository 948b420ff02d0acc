// The cores of other boards as devices: a worker there computes, tensors go over the link.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "board/joined/joined_boards.h"
#include "millrace/engine.h"
#include "version.h"
#include "weights.h"
#include "wire.h"
#include "worker_link.h"

using namespace millrace_cluster;

namespace {

/// A core of a board, as the device of the same number.
struct Core {
  WorkerLink* link = nullptr;  // of the instance
  int number = 0;
  Wire wire = Wire::f32;
  std::int64_t memory = 0;  // of its board, bytes
  std::string name, space;
  const char* spaces[1] = {};
};

}  // namespace

struct MillraceInstance {
  std::vector<std::unique_ptr<WorkerLink>> links;
  std::vector<std::unique_ptr<Core>> cores;
  std::vector<MillraceDevice> described;
};

struct MillraceProgram {
  WorkerLink* link = nullptr;
  std::int64_t number = 0;
  std::size_t inputs = 0, outputs = 0, layers = 0;
  std::vector<MillraceTensor> made;

  ~MillraceProgram() {
    try {
      if (link != nullptr) link->call({.kind = Kind::unload, .a = number});
    } catch (const std::exception&) {  // the board is gone with it
    }
  }
};

namespace {

class WrongOption : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Options {
  std::string file;
  double limit = 20;  // seconds
};

/// What `work` returns; a failure becomes a text.
template <class Work>
std::int32_t guarded(char (&text)[millrace_text_size], const Work& work) {
  const auto say = [&](const std::string& words, std::int32_t result) {
    std::strncpy(text, words.c_str(), millrace_text_size - 1);
    text[millrace_text_size - 1] = '\0';
    return result;
  };
  try {
    work();
    return millrace_done;
  } catch (const WrongOption& wrong) {
    return say(wrong.what(), millrace_bad_option);
  } catch (const std::exception& error) {
    return say(error.what(), millrace_failed);
  }
}

Options read_options(const MillraceOpening& opening) {
  Options options;
  if (const char* const file = std::getenv("MILLRACE_CLUSTER_FILE")) options.file = file;
  for (std::size_t i = 0; i < opening.option_count; ++i) {
    const std::string key = opening.options[i].key, value = opening.options[i].value;
    if (key == "file")
      options.file = value;
    else if (key == "answer_s")
      options.limit = std::strtod(value.c_str(), nullptr);
    else
      throw WrongOption("there is no option '" + key + "'; there are file and answer_s");
  }
  if (!(options.limit > 0)) throw WrongOption("answer_s: expected seconds above 0, such as 20");
  if (options.file.empty())
    throw std::runtime_error("no file of boards is named; give --engine-option cluster.file=FILE");
  return options;
}

Wire wire_of(const millrace::board::Neighbour& board) {
  if (board.wire == millrace::board::Precision::f16) return Wire::f16;
  return board.wire == millrace::board::Precision::int8 ? Wire::int8 : Wire::f32;
}

void add_core(MillraceInstance& instance, WorkerLink& link, int number,
              const millrace::board::Neighbour& board) {
  auto core = std::make_unique<Core>();
  core->link = &link;
  core->number = number;
  core->wire = wire_of(board);
  core->memory = board.memory.count > 0 ? board.memory.count : link.memory();
  core->name = link.board() + ".core" + std::to_string(number);
  core->space = link.board();
  core->spaces[0] = core->space.c_str();
  MillraceDevice device{};
  device.name = core->name.c_str();
  device.model = link.model().c_str();
  device.kind = millrace_npu;
  device.precisions = 1u << millrace_f32;
  device.times_layers = 1;
  device.spaces = core->spaces;
  device.space_count = 1;
  device.joins = 1;
  device.copies = 1;
  instance.described.push_back(device);
  instance.cores.push_back(std::move(core));
}

std::int32_t open_engine(MillraceOpening* opening) {
  return guarded(opening->text, [&] {
    const Options options = read_options(*opening);
    const auto boards = millrace::board::read_joined_boards(options.file);
    auto instance = std::make_unique<MillraceInstance>();
    for (const millrace::board::Neighbour& each : boards.boards) {
      if (each.reach.empty()) continue;
      auto& link = instance->links.emplace_back(std::make_unique<WorkerLink>(
          each.name, each.reach, each.worker.empty() ? "millrace-worker" : each.worker,
          options.limit));
      for (int core = 0; core < link->cores(); ++core) add_core(*instance, *link, core, each);
    }
    if (instance->cores.empty())
      throw std::runtime_error(options.file + ": no board has 'reach', so none can be used");
    opening->devices = instance->described.data();
    opening->device_count = instance->described.size();
    opening->instance = instance.release();
  });
}

void close_engine(MillraceInstance* instance) { delete instance; }

/// A worker runs whatever can be written as ONNX.
std::int32_t can_run(MillraceInstance*, MillraceQuestion* question) {
  question->reason = millrace_runs;
  return millrace_done;
}

std::int32_t load(MillraceInstance* instance, MillraceLoading* loading) {
  return guarded(loading->text, [&] {
    const Core& core = *instance->cores[loading->device];
    const MillraceSubnet& subnet = *loading->subnet;
    const std::int64_t weights = send_weights(*core.link, subnet);
    const Message answer = core.link->call({.kind = Kind::load,
                                            .a = core.number,
                                            .b = weights,
                                            .body = subnet.onnx,
                                            .bytes = subnet.onnx_bytes});
    auto program = std::make_unique<MillraceProgram>();
    program->link = core.link;
    program->number = answer.header.a;
    program->inputs = subnet.input_count;
    program->outputs = subnet.output_count;
    program->layers = subnet.layer_count;
    for (std::size_t i = 0; i < subnet.output_count; ++i)
      program->made.push_back(subnet.tensors[subnet.outputs[i]]);
    loading->outputs = program->made.data();
    loading->output_count = program->made.size();
    loading->weight_bytes = static_cast<std::size_t>(answer.header.b);
    loading->program = program.release();
  });
}

void unload(MillraceProgram* program) { delete program; }

/// By triples of layer, group and nanoseconds; what is not named took no time.
void tell_times(const std::string& triples, std::size_t layers, MillraceLayerTime* times) {
  for (std::size_t i = 0; i < layers; ++i) times[i] = {i, 0, nullptr};
  for (std::size_t at = 0; at + 24 <= triples.size(); at += 24) {
    std::int64_t triple[3];
    std::memcpy(triple, triples.data() + at, sizeof triple);
    const auto layer = static_cast<std::size_t>(triple[0]);
    const auto group = static_cast<std::size_t>(triple[1]);
    if (layer >= layers || group > layer || times[group].group != group) continue;
    times[layer].group = group;
    times[group].nanoseconds += triple[2];
  }
}

std::int32_t run(MillraceProgram* program, MillraceRun* run) {
  return guarded(run->text, [&] {
    std::vector<std::int64_t> handles;
    for (std::size_t i = 0; i < program->inputs; ++i)
      handles.push_back(reinterpret_cast<std::intptr_t>(run->inputs[i].handle));
    for (std::size_t i = 0; i < program->outputs; ++i)
      handles.push_back(reinterpret_cast<std::intptr_t>(run->outputs[i].handle));
    const Message answer = program->link->call({.kind = Kind::run,
                                                .a = program->number,
                                                .b = run->times != nullptr ? 1 : 0,
                                                .body = handles.data(),
                                                .bytes = handles.size() * sizeof handles[0]});
    if (run->times != nullptr) tell_times(answer.body, program->layers, run->times);
  });
}

WorkerLink& link_of(MillraceInstance* instance, const MillraceBuffer& buffer) {
  return *instance->cores[buffer.device]->link;
}

std::int32_t allocate(MillraceInstance* instance, MillraceBuffer* buffer) try {
  const auto bytes = static_cast<std::int64_t>(buffer->bytes);
  const Message answer = link_of(instance, *buffer).call({.kind = Kind::allocate, .a = bytes});
  buffer->handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(answer.header.a));
  return millrace_done;
} catch (const std::exception&) {
  return millrace_failed;
}

void release(MillraceInstance* instance, MillraceBuffer* buffer) try {
  const std::int64_t handle = reinterpret_cast<std::intptr_t>(buffer->handle);
  link_of(instance, *buffer).call({.kind = Kind::release, .a = handle});
} catch (const std::exception&) {  // the board is gone with it
}

/// A tensor on its way over a link, piece by piece.
class Crossing {
 public:
  Crossing(WorkerLink& link, const MillraceBuffer& from, const MillraceBuffer& to, Wire wire)
      : link_(link), from_(from), to_(to), wire_(wire) {}

  void run() {
    const auto began = std::chrono::steady_clock::now();
    const std::size_t most = link_.pieces_at_once();
    for (std::uint64_t at = 0; at < to_.bytes; at += piece_bytes) {
      if (pieces_.size() == most) finish_first();
      begin(pieces_.emplace_back(), at);
    }
    while (!pieces_.empty()) finish_first();
    link_.note_rate(to_.bytes, std::chrono::steady_clock::now() - began);
  }

 private:
  struct Piece {
    std::optional<WorkerLink::Pending> pending;
    std::uint64_t at = 0, bytes = 0;
    std::string text;  // of a piece that is sent in another form
  };

  bool goes_there() const { return std::strcmp(from_.space, "host") == 0; }

  void begin(Piece& piece, std::uint64_t at) {
    piece.at = at;
    piece.bytes = std::min<std::uint64_t>(piece_bytes, to_.bytes - at);
    WorkerLink::Call call{.kind = goes_there() ? Kind::put : Kind::get};
    call.a = reinterpret_cast<std::intptr_t>(goes_there() ? to_.handle : from_.handle);
    call.b = number_of({static_cast<std::int64_t>(at), wire_});
    if (!goes_there()) {
      call.body = &piece.bytes;
      call.bytes = sizeof piece.bytes;
      if (wire_ == Wire::f32) call.into = host(to_) + at;
      call.into_bytes = piece.bytes;
    } else if (wire_ == Wire::f32) {
      call.body = host(from_) + at;
      call.bytes = piece.bytes;
    } else {
      piece.text = encode(wire_, host(from_) + at, piece.bytes);
      call.body = piece.text.data();
      call.bytes = piece.text.size();
    }
    piece.pending.emplace(link_, call);
  }

  void finish_first() {
    Piece& piece = pieces_.front();
    const Message answer = piece.pending->wait();
    piece.pending.reset();
    if (!goes_there() && wire_ != Wire::f32)
      decode(wire_, answer.body, host(to_) + piece.at, piece.bytes);
    pieces_.pop_front();
  }

  static std::byte* host(const MillraceBuffer& buffer) {
    return static_cast<std::byte*>(buffer.handle);
  }

  WorkerLink& link_;
  const MillraceBuffer &from_, &to_;
  Wire wire_;
  std::deque<Piece> pieces_;  // on their way
};

const Core& core_of(MillraceInstance* instance, const MillraceBuffer* from,
                    const MillraceBuffer* to) {
  return *instance->cores[std::strcmp(from->space, "host") == 0 ? to->device : from->device];
}

std::size_t memory(MillraceInstance* instance, std::size_t device) {
  return static_cast<std::size_t>(instance->cores[device]->memory);
}

std::int32_t transfer(MillraceInstance* instance, const MillraceBuffer* from,
                      const MillraceBuffer* to) try {
  Crossing(*core_of(instance, from, to).link, *from, *to, Wire::f32).run();
  return millrace_done;
} catch (const std::exception&) {
  return millrace_failed;
}

std::int32_t move(MillraceInstance* instance, MillraceMove* asked) {
  return guarded(asked->text, [&] {
    const Core& core = core_of(instance, asked->from, asked->to);
    const bool is_float32 = asked->tensor->type == millrace_float32;
    Crossing(*core.link, *asked->from, *asked->to, is_float32 ? core.wire : Wire::f32).run();
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const MillraceEngine* millrace_engine(
    uint32_t host_version) {
  static const MillraceEngine table = [] {
    MillraceEngine engine{};
    engine.version = millrace_engine_version;
    engine.size = sizeof engine;
    engine.name = "cluster";
    engine.sdk = version;
    engine.onnx = millrace_light_onnx;
    engine.open = open_engine;
    engine.close = close_engine;
    engine.can_run = can_run;
    engine.load = load;
    engine.run = run;
    engine.unload = unload;
    engine.allocate = allocate;
    engine.release = release;
    engine.transfer = transfer;
    engine.move = move;
    engine.memory = memory;
    return engine;
  }();
  return host_version == millrace_engine_version ? &table : nullptr;
}
