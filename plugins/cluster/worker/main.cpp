// The other end of the engine cluster: computes on this board what comes over standard input.
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

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
#include "message.h"
#include "program.h"
#include "version.h"
#include "wire.h"

namespace millrace_cluster {
namespace {

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

/// A board that is so many times slower, on a machine whose cores are shared: what a run takes of
/// its core is waited for again. For tests.
class Slower {
 public:
  explicit Slower(double times) : times_(times), began_(of_this_thread()) {}
  /// The times of layers, in triples, grow with it.
  void wait(std::vector<std::int64_t>& triples) const {
    if (times_ <= 1) return;
    const auto taken = of_this_thread() - began_;
    for (std::size_t i = 2; i < triples.size(); i += 3)
      triples[i] = static_cast<std::int64_t>(static_cast<double>(triples[i]) * times_);
    std::this_thread::sleep_for(taken * (times_ - 1));
  }

 private:
  static std::chrono::duration<double> of_this_thread() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  }

  double times_;
  std::chrono::duration<double> began_;
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
  };

  void take(const Header& header) {
    if (header.kind == Kind::put) return put(header);
    std::string body(header.bytes, '\0');
    if (!read_all(in_, body.data(), body.size())) return;
    switch (header.kind) {
      case Kind::hello:
        return hello(header, body);
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
      case Kind::put_as:
        return put_as(header, body);
      case Kind::get:
        return get(header, Wire::f32);
      case Kind::get_as:
        return get(header, wire_in(body));
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
    answer(header, static_cast<std::int64_t>(queues_.size()), 0, board_.cpu_model);
  }

  void load(const Header& header, std::string onnx) {
    const auto core = static_cast<std::size_t>(header.a);
    if (core >= queues_.size()) throw std::runtime_error("there is no such core");
    const std::int64_t number = ++last_;
    auto& loaded = programs_[number];
    loaded = std::make_shared<Loaded>();
    loaded->core = core;
    queues_[core]->add([this, header, number, loaded, onnx = std::move(onnx)] {
      guarded(header, [&] {
        loaded->program = std::make_unique<Program>(onnx, board_.processors[loaded->core],
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
    queues_[loaded->second->core]->add([program = loaded->second] { program->program.reset(); });
    programs_.erase(loaded);
    answer(header);
  }

  const Memory& memory(std::int64_t handle) const {
    const auto found = memories_.find(handle);
    if (found == memories_.end()) throw std::runtime_error("there is no such memory");
    return found->second;
  }

  void put(const Header& header) {
    const auto found = memories_.find(header.a);
    const bool fits =
        found != memories_.end() &&
        header.bytes <= static_cast<std::uint64_t>(found->second->size().count);
    if (fits) {
      if (read_all(in_, found->second->data(), header.bytes)) answer(header);
      return;
    }
    std::string lost(header.bytes, '\0');
    read_all(in_, lost.data(), lost.size());
    throw std::runtime_error("there is no such memory, or it is too small");
  }

  void put_as(const Header& header, const std::string& body) {
    const Memory to = memory(header.a);
    const auto wire = static_cast<Wire>(header.b);
    const std::uint64_t values = wire == Wire::f16 ? body.size() / 2 : body.size() - sizeof(float);
    const std::uint64_t bytes = values * sizeof(float);
    if (body.size() < sizeof(float) || bytes > static_cast<std::uint64_t>(to->size().count))
      throw std::runtime_error("that memory is smaller");
    decode(wire, body, to->data(), bytes);
    answer(header);
  }

  static Wire wire_in(const std::string& body) {
    std::int64_t number = -1;
    if (body.size() == sizeof number) std::memcpy(&number, body.data(), sizeof number);
    if (number < 0 || number > static_cast<std::int64_t>(Wire::int8))
      throw std::runtime_error("a message names no precision of the wire");
    return static_cast<Wire>(number);
  }

  void get(const Header& header, Wire wire) {
    const Memory from = memory(header.a);
    if (header.b < 0 || header.b > from->size().count)
      throw std::runtime_error("that memory is smaller");
    const auto bytes = static_cast<std::uint64_t>(header.b);
    sender_.add([this, header, from, wire, bytes] {
      const Header named{.kind = Kind::answer, .call = header.call};
      if (wire == Wire::f32) {
        write_message(out_, named, from->data(), bytes);
        return;
      }
      guarded(header, [&] {
        const std::string text = encode(wire, from->data(), bytes);
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
        slower.wait(times);
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
  std::map<std::int64_t, std::shared_ptr<Loaded>> programs_;
  std::int64_t last_ = 0;
  std::mutex of_engines_;
  std::map<std::size_t, std::map<std::string, std::unique_ptr<millrace::engine::Engine>>> engines_;
  Queue sender_;
  std::vector<std::unique_ptr<Queue>> queues_;  // by core
};

int serve(double slower) {
  ::signal(SIGPIPE, SIG_IGN);
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
