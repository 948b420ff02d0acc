#include "remote/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "remote/job.h"
#include "remote/link.h"
#include "remote/messages.h"
#include "remote/sent_files.h"
#include "remote/session_folder.h"

namespace millrace::remote {
namespace {

namespace fs = std::filesystem;

/// The other side beats twice a second. With a second for the program to end by itself, work ends
/// within 5 s.
constexpr std::chrono::seconds longest_silence{3};

/// At most half of the disk.
Bytes bound_of(const AgentOptions& options) {
  std::error_code error;
  const fs::space_info space = fs::space(options.folder, error);
  if (error) return options.most_kept;
  return std::min(options.most_kept, Bytes{static_cast<std::int64_t>(space.capacity / 2)});
}

class Agent {
 public:
  Agent(const AgentOptions& options, int in, int out)
      : options_(options), link_(in, out), sent_(options.folder / "files", bound_of(options)),
        session_(options.folder) {
    link_.send_greeting();
    link_.send(Kind::hello,
               body_of(Hello{protocol, options.version, session_.path().string()}));
  }

  /// Until the connection ends.
  void serve() {
    const InterruptGuard interrupt(options_.interrupt);
    while (!link_.is_closed() && !interrupt.take() && !is_silent_) turn();
    if (job_) job_->end_all();
  }

  /// The other side is told why this one goes, if it listens.
  void fail(const std::string& text) {
    job_.reset();
    link_.send(Kind::failure, FieldWriter().add(text).body());
    const auto until = Clock::now() + std::chrono::seconds(2);
    while (link_.waiting() > 0 && !link_.is_closed() && Clock::now() < until) turn_of_link();
  }

 private:
  struct Coming {
    FileOffer file;
    std::vector<std::string> names;  // that are to have its content
  };

  void turn_of_link() {
    pollfd out{link_.out(), POLLOUT, 0};
    ::poll(&out, 1, static_cast<int>(tick.count()));
    link_.write_some();
  }

  /// No descriptor says that a process has ended, or that more of a file can be sent.
  std::chrono::milliseconds patience() const {
    const bool has_room = link_.waiting() < most_waiting;
    if (has_room && (is_giving_ || (job_ && job_->has_ended() && !is_told_))) return {};
    const bool is_quiet = job_ && !is_told_ && job_->outputs() == std::array{-1, -1};
    return is_quiet ? std::chrono::milliseconds(5) : tick;
  }

  void turn() {
    const bool has_room = link_.waiting() < most_waiting;
    const auto output = [&](std::size_t i) { return job_ && has_room ? job_->outputs()[i] : -1; };
    std::array<pollfd, 4> all{{{link_.in(), POLLIN, 0},
                               {link_.waiting() > 0 ? link_.out() : -1, POLLOUT, 0},
                               {output(0), POLLIN, 0},
                               {output(1), POLLIN, 0}}};
    ::poll(all.data(), all.size(), static_cast<int>(patience().count()));
    if (all[0].revents != 0) link_.read_some();
    else is_silent_ = Clock::now() - link_.heard() > longest_silence;  // not if this side was busy
    while (const std::optional<WireMessage> message = link_.next()) take(*message);
    for (std::size_t i = 0; i < 2; ++i)
      if (all[i + 2].revents != 0) pass_on(i);
    look_for_end();
    give_some();
    link_.beat();
    link_.write_some();
  }

  void take(const WireMessage& message) {
    switch (message.kind) {
      case Kind::file:
        return take_file(read_file_offer(message.body));
      case Kind::file_end:
        return ask_for_files();
      case Kind::piece:
        if (!incoming_) throw BadMessage("a piece of no file came");
        return incoming_->write(message.body);
      case Kind::piece_end:
        return take_end_of_file();
      case Kind::start:
        return start(read_start(message.body));
      case Kind::interrupt:
        return job_ ? job_->interrupt() : void();
      case Kind::give:
        return give(message.body);
      default:
        throw BadMessage("a message came that only an agent sends");
    }
  }

  void take_file(const FileOffer& file) {
    if (job_) throw BadMessage("a file came after the start");
    if (file.digest.empty()) return session_.make_folder(file.name);
    const fs::path place = session_.make_room_for(file.name);
    if (!file.is_own && sent_.link(file.digest, file.size, place)) return;
    const std::string key = (file.is_own ? "own " : "") + file.digest;
    const auto [coming, is_new] = coming_.try_emplace(key, Coming{file, {}});
    coming->second.names.push_back(file.name);
    if (is_new) order_.push_back(key);
  }

  void ask_for_files() {
    for (const std::string& key : order_)
      link_.send(Kind::wanted, FieldWriter().add(coming_.at(key).file.digest)
                                   .add(coming_.at(key).file.is_own ? 1 : 0).body());
    link_.send(Kind::wanted_end);
    begin_next_file();
  }

  void begin_next_file() {
    incoming_.reset();
    if (order_.empty()) return;
    const Coming& coming = coming_.at(order_.front());
    const fs::path shared = sent_.place_of(coming.file.digest);
    std::error_code ignored;
    if (!coming.file.is_own) fs::remove(shared, ignored);  // one of another size
    incoming_ = std::make_unique<IncomingFile>(
        coming.file.is_own ? session_.place_of(coming.names.front()) : shared, coming.file.digest,
        coming.file.size);
  }

  void take_end_of_file() {
    if (!incoming_) throw BadMessage("the end of no file came");
    const Coming coming = coming_.at(order_.front());
    incoming_->keep(!coming.file.is_own);
    coming_.erase(order_.front());
    order_.pop_front();
    begin_next_file();
    for (const std::string& name : coming.names) {
      const fs::path place = session_.place_of(name);
      std::error_code error;
      if (!coming.file.is_own) sent_.link(coming.file.digest, coming.file.size, place);
      else if (name != coming.names.front())
        fs::copy_file(session_.place_of(coming.names.front()), place, error);
      if (!fs::exists(place, error))
        throw EngineError(place.string() + ": cannot be written on the board");
    }
  }

  void start(const Start& start) {
    if (job_ || !order_.empty()) throw BadMessage("a start came at a wrong time");
    sent_.shrink();
    if (!start.folder.empty()) session_.make_folder(start.folder);
    session_.note_files();
    job_ = std::make_unique<Job>(options_.program, session_.place_of(start.folder), start);
  }

  void pass_on(std::size_t output) {
    const std::string bytes = job_->read(output);
    if (!bytes.empty()) link_.send(Kind::output, body_of(Output{output == 1, bytes}));
  }

  /// What it wrote goes before. What others hold open is not waited for.
  void look_for_end() {
    if (!job_ || is_told_ || !job_->look_for_end()) return;
    for (std::size_t i = 0; i < 2; ++i) {
      if (link_.waiting() >= most_waiting) return;
      const std::string bytes = job_->read(i);
      if (bytes.empty()) continue;
      link_.send(Kind::output, body_of(Output{i == 1, bytes}));
      return;  // there may be more
    }
    const Ended ended = *job_->look_for_end();
    job_->end_all();
    for (const SessionFolder::Produced& file : session_.produced()) {
      produced_.insert(file.name);
      link_.send(Kind::produced, FieldWriter().add(file.name).add(file.size).body());
    }
    link_.send(Kind::produced_end);
    link_.send(Kind::ended, body_of(ended));
    is_told_ = true;
  }

  void give(std::string_view body) {
    FieldReader fields(body);
    const std::string name = fields.text();
    fields.end();
    if (!produced_.contains(name)) throw BadMessage("a file was asked for that was not produced");
    given_.open(session_.place_of(name), std::ios::binary);
    if (!given_) throw EngineError(session_.place_of(name).string() + ": cannot be read");
    is_giving_ = true;
  }

  void give_some() {
    if (!is_giving_ || link_.waiting() >= most_waiting) return;
    std::string bytes(piece_size, '\0');
    given_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(given_.gcount()));
    if (!bytes.empty()) return link_.send(Kind::piece, bytes);
    link_.send(Kind::piece_end);
    given_ = {};
    is_giving_ = false;
  }

  const AgentOptions& options_;
  Link link_;
  SentFiles sent_;
  SessionFolder session_;
  std::map<std::string, Coming> coming_;  // by digest, of own files apart
  std::deque<std::string> order_;         // in which their content comes
  std::unique_ptr<IncomingFile> incoming_;
  std::unique_ptr<Job> job_;
  bool is_told_ = false;    // that the job has ended
  bool is_silent_ = false;  // the other side, for too long
  std::set<std::string> produced_;
  std::ifstream given_;
  bool is_giving_ = false;
};

}  // namespace

void serve(const AgentOptions& options, int in, int out) {
  ::mkdir(options.folder.c_str(), S_IRWXU);
  Agent agent(options, in, out);
  try {
    agent.serve();
  } catch (const BadMessage& error) {
    agent.fail(error.what());
    throw EngineError(error.what());
  } catch (const std::exception& error) {
    agent.fail(error.what());
    throw;
  }
}

}  // namespace millrace::remote
