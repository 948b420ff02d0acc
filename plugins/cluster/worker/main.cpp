// The other end of the engine cluster: computes on this board what comes over standard input.
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "board/limits/usable_memory.h"
#include "message.h"
#include "program.h"
#include "version.h"
#include "weights_file.h"
#include "wire.h"

namespace millrace_cluster {
namespace {

using Seconds = std::chrono::duration<double>;

/// Does one thing after the other, on a thread of its own. What is urgent overtakes the rest.
class Queue {
 public:
  explicit Queue(const std::function<void()>& first) : thread_([this, first] { work(first); }) {}
  ~Queue() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void add(std::function<void()> task) { add_to(tasks_, std::move(task)); }
  void add_urgent(std::function<void()> task) { add_to(urgent_, std::move(task)); }

 private:
  using Tasks = std::deque<std::function<void()>>;

  void add_to(Tasks& tasks, std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks.push_back(std::move(task));
    }
    changed_.notify_all();
  }
  void work(const std::function<void()>& first) {
    first();
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return ends_ || !tasks_.empty() || !urgent_.empty(); });
      if (ends_) return;
      Tasks& tasks = urgent_.empty() ? tasks_ : urgent_;
      const std::function<void()> task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Tasks tasks_, urgent_;
  bool ends_ = false;
  std::thread thread_;
};

/// A board that is so many times slower, on a machine whose cores are shared: a run takes so many
/// times what the fastest run of the program took of its core. For tests.
class Slower {
 public:
  explicit Slower(double times)
      : times_(times), began_(std::chrono::steady_clock::now()), taken_(of_this_thread()) {}
  /// `fastest`: the program's, 0 before its first run. Times of layers, in triples, grow with it.
  void wait(Seconds& fastest, std::vector<std::int64_t>& triples) const {
    if (times_ <= 1) return;
    const Seconds taken = of_this_thread() - taken_;
    fastest = fastest.count() > 0 ? std::min(fastest, taken) : taken;
    const Seconds whole = fastest * times_;
    double sum = 0;
    for (std::size_t i = 2; i < triples.size(); i += 3) sum += static_cast<double>(triples[i]);
    for (std::size_t i = 2; i < triples.size() && sum > 0; i += 3)
      triples[i] =
          static_cast<std::int64_t>(static_cast<double>(triples[i]) / sum * whole.count() * 1e9);
    std::this_thread::sleep_until(began_ + whole);
  }

 private:
  static Seconds of_this_thread() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  }

  double times_;
  std::chrono::steady_clock::time_point began_;
  Seconds taken_;
};

class Worker {
 public:
  Worker(int in, int out, double slower) : in_(in), out_(out), slower_(slower), sender_([] {}) {
    board_ = millrace::board::this_machine();
    for (const auto& core : board_.processors)
      queues_.push_back(
          std::make_unique<Queue>([core] { millrace::board::pin_this_thread(core); }));
  }

  /// Until the input ends, or nothing comes for too long: then the link is cut.
  void serve() {
    Header header;
    while (something_comes() && read_header(in_, header)) {
      try {
        take(header);
      } catch (const std::exception& error) {
        fail(header, error.what());
      }
    }
  }

 private:
  bool something_comes() const {
    pollfd ready{in_, POLLIN, 0};
    const std::chrono::milliseconds limit = longest_silence;
    return ::poll(&ready, 1, static_cast<int>(limit.count())) > 0;
  }

  struct Loaded {
    std::unique_ptr<Program> program;
    std::size_t core = 0;
    Seconds fastest{};  // of its runs, of the core; of its thread
  };

  void take(const Header& header) {
    if (header.kind == Kind::put) return put(header);
    std::string body(header.bytes, '\0');
    if (!read_all(in_, body.data(), body.size())) return;
    switch (header.kind) {
      case Kind::hello:
        return hello(header, body);
      case Kind::weights:
        weights_[++last_] = std::make_shared<WeightsFile>(header.a);
        return answer(header, last_);
      case Kind::put_weights:
        return put_weights(header, body);
      case Kind::load:
        return load(header, std::move(body));
      case Kind::unload:
        return unload(header);
      case Kind::allocate:
        memories_[++last_] = std::make_shared<millrace::network::Buffer>(
            millrace::Bytes{std::max<std::int64_t>(1, header.a)});
        return answer(header, last_);
      case Kind::release:
        memories_.erase(header.a);
        return answer(header);
      case Kind::get:
        return get(header, body);
      case Kind::run:
        return run(header, body);
      default:
        throw std::runtime_error("a message of an unknown kind");
    }
  }

  void hello(const Header& header, const std::string& theirs) {
    if (theirs != version)
      throw std::runtime_error("it has Millrace " + std::string(version) + ", here is " + theirs +
                               "; install the same version on both");
    answer(header, static_cast<std::int64_t>(queues_.size()),
           millrace::board::usable_memory().count, board_.cpu_model);
  }

  void put_weights(const Header& header, const std::string& bytes) {
    const auto found = weights_.find(header.a);
    if (found == weights_.end()) throw std::runtime_error("there is no such file of weights");
    found->second->put(header.b, bytes);
    answer(header);
  }

  void load(const Header& header, std::string onnx) {
    const auto core = static_cast<std::size_t>(header.a);
    if (core >= queues_.size()) throw std::runtime_error("there is no such core");
    std::shared_ptr<WeightsFile> weights;  // shared with the task, which is copied
    if (const auto found = weights_.find(header.b); found != weights_.end()) {
      weights = std::move(found->second);
      weights_.erase(found);
    }
    const std::int64_t number = ++last_;
    auto& loaded = programs_[number];
    loaded = std::make_shared<Loaded>();
    loaded->core = core;
    const Program::Source source{std::move(onnx), weights ? weights->folder() : ""};
    queues_[core]->add([this, header, number, loaded, source, weights] {
      guarded(header, [&] {
        loaded->program = std::make_unique<Program>(source, board_.processors[loaded->core],
                                                    engines_of(loaded->core));
        answer(header, number, loaded->program->weights());
      });
    });
  }

  /// Each core has engines of its own, so that no two threads use one.
  std::map<std::string, std::unique_ptr<millrace::engine::Engine>>& engines_of(std::size_t core) {
    const std::lock_guard lock(of_engines_);
    return engines_[core];
  }

  void unload(const Header& header) {
    const auto loaded = programs_.find(header.a);
    if (loaded == programs_.end()) throw std::runtime_error("there is no such program");
    // On its core's thread, behind what still runs.
    queues_[loaded->second->core]->add([this, header, program = loaded->second] {
      program->program.reset();
      ::malloc_trim(0);  // there may be no room for what comes next beside what is free
      answer(header);
    });
    programs_.erase(loaded);
  }

  const Memory& memory(std::int64_t handle) const {
    const auto found = memories_.find(handle);
    if (found == memories_.end()) throw std::runtime_error("there is no such memory");
    return found->second;
  }

  /// `bytes` at the place. std::runtime_error if the memory has none there.
  static std::byte* part_of(const Memory& memory, const PiecePlace& place, std::uint64_t bytes) {
    const auto size = static_cast<std::uint64_t>(memory->size().count);
    const auto offset = static_cast<std::uint64_t>(place.offset);
    if (offset > size || bytes > size - offset) throw std::runtime_error("that memory is smaller");
    return memory->data() + offset;
  }

  void put(const Header& header) {
    std::byte* as_it_is = nullptr;  // read to where it lies
    std::string text, fault;
    try {
      const PiecePlace place = place_of(header.b);
      if (place.wire == Wire::f32) as_it_is = part_of(memory(header.a), place, header.bytes);
    } catch (const std::exception& error) {
      fault = error.what();
    }
    if (as_it_is == nullptr) text.resize(header.bytes);
    if (!read_all(in_, as_it_is != nullptr ? static_cast<void*>(as_it_is) : text.data(),
                  header.bytes))
      return;
    if (!fault.empty()) throw std::runtime_error(fault);
    if (as_it_is == nullptr) put_decoded(header, text);
    answer(header);
  }

  void put_decoded(const Header& header, const std::string& text) {
    const PiecePlace place = place_of(header.b);
    const std::uint64_t bytes = decoded_size(place.wire, text.size());
    decode(place.wire, text, part_of(memory(header.a), place, bytes), bytes);
  }

  void get(const Header& header, const std::string& count) {
    std::uint64_t bytes = 0;
    if (count.size() != sizeof bytes) throw std::runtime_error("a message names no size");
    std::memcpy(&bytes, count.data(), sizeof bytes);
    const Memory kept = memory(header.a);
    const PiecePlace place = place_of(header.b);
    const std::byte* const from = part_of(kept, place, bytes);
    sender_.add([this, header, kept, from, bytes, wire = place.wire] {
      const Header named{.kind = Kind::answer, .call = header.call};
      if (wire == Wire::f32) {
        write_message(out_, named, from, bytes);
        return;
      }
      guarded(header, [&] {
        const std::string text = encode(wire, from, bytes);
        write_message(out_, named, text.data(), text.size());
      });
    });
  }

  void run(const Header& header, const std::string& handles) {
    const auto found = programs_.find(header.a);
    if (found == programs_.end()) throw std::runtime_error("there is no such program");
    std::vector<Memory> memories;
    for (std::size_t at = 0; at + sizeof(std::int64_t) <= handles.size();
         at += sizeof(std::int64_t)) {
      std::int64_t handle = 0;
      std::memcpy(&handle, handles.data() + at, sizeof handle);
      memories.push_back(memory(handle));
    }
    queues_[found->second->core]->add([this, header, loaded = found->second, memories] {
      guarded(header, [&] {
        std::vector<std::int64_t> times;
        const Slower slower(slower_);
        loaded->program->run(memories, header.b != 0 ? &times : nullptr);
        slower.wait(loaded->fastest, times);
        answer(header, 0, 0,
               {reinterpret_cast<const char*>(times.data()), times.size() * sizeof times[0]});
      });
    });
  }

  template <class Work>
  void guarded(const Header& header, const Work& work) {
    try {
      work();
    } catch (const std::exception& error) {
      fail(header, error.what());
    }
  }

  void answer(const Header& header, std::int64_t a = 0, std::int64_t b = 0, std::string body = {}) {
    send({.kind = Kind::answer, .call = header.call, .a = a, .b = b}, std::move(body));
  }
  void fail(const Header& header, const std::string& why) {
    send({.kind = Kind::failure, .call = header.call}, why);
  }
  void send(const Header& header, std::string body) {
    sender_.add_urgent([this, header, body = std::move(body)] {
      write_message(out_, header, body.data(), body.size());
    });
  }

  int in_, out_;
  double slower_;
  millrace::board::Board board_;
  std::map<std::int64_t, Memory> memories_;
  std::map<std::int64_t, std::shared_ptr<WeightsFile>> weights_;  // that no program has yet
  std::map<std::int64_t, std::shared_ptr<Loaded>> programs_;
  std::int64_t last_ = 0;
  std::mutex of_engines_;
  std::map<std::size_t, std::map<std::string, std::unique_ptr<millrace::engine::Engine>>> engines_;
  Queue sender_;
  std::vector<std::unique_ptr<Queue>> queues_;  // by core
};

int serve(double slower) {
  ::signal(SIGPIPE, SIG_IGN);
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);  // so that weights that are gone leave no room behind them
  // What libraries print must not get between the messages.
  const int out = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  try {
    Worker(STDIN_FILENO, out, slower).serve();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "millrace-worker: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace
}  // namespace millrace_cluster

int main(int count, char** words) {
  if (count > 1 && std::strcmp(words[1], "--version") == 0) {
    std::puts(millrace_cluster::version);
    return 0;
  }
  double slower = 1;
  if (count == 3 && std::strcmp(words[1], "--slower") == 0) slower = std::atof(words[2]);
  if ((count > 1 && !(slower > 1)) || ::isatty(STDIN_FILENO) != 0) {
    std::fputs("millrace-worker is started by the engine cluster on another board: it reads "
               "messages from standard input.\n",
               stderr);
    return 2;
  }
  return millrace_cluster::serve(slower);
}
