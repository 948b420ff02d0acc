#include "remote/client.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/excerpt.h"
#include "base/file.h"
#include "base/temporary.h"
#include "remote/link.h"
#include "remote/messages.h"
#include "remote/places.h"
#include "remote/sent_files.h"

namespace millrace::remote {
namespace {

namespace fs = std::filesystem;

/// Limits of silence: until ssh has connected; of a program; of a disk that takes a large file.
constexpr std::chrono::seconds patience_at_first{40}, patience_at_work{15}, patience_of_disk{120};

/// What goes to a stream of ours, without waiting for who reads it.
class OwnStream {
 public:
  OwnStream(int descriptor, std::string root) : descriptor_(descriptor), root_(std::move(root)) {}

  void take(std::string_view bytes) { to_write_ += root_.pass(bytes); }
  void end() { to_write_ += root_.end(); }
  std::size_t waiting() const { return to_write_.size(); }
  int descriptor() const { return waiting() > 0 ? descriptor_ : -1; }

  /// After poll() said that it can be written. EPIPE as std::system_error.
  void write_some() {
    constexpr std::size_t without_waiting = 4096;  // PIPE_BUF: so much has room
    const ssize_t count =
        ::write(descriptor_, to_write_.data(), std::min(waiting(), without_waiting));
    if (count >= 0) to_write_.erase(0, static_cast<std::size_t>(count));
    if (count >= 0 || errno == EINTR || errno == EAGAIN) return;
    if (descriptor_ == STDERR_FILENO) return to_write_.clear();
    throw std::system_error(errno, std::generic_category(), "standard output cannot be written");
  }

 private:
  int descriptor_;
  RootRemover root_;
  std::string to_write_;
};

class Client {
 public:
  Client(const ClientOptions& options, const Command& command)
      : options_(options), command_(command), connection_(options.board),
        link_(connection_.from_board(), connection_.to_board()) {
    link_.await_greeting();
  }

  int run() {
    greet();
    send_files();
    start();
    const Ended ended = follow();
    fetch_all();
    if (ended.signal == 0) return static_cast<int>(ended.code);
    options_.context.note(fmt::format("millrace: the program on {} was ended by signal {} ({})",
                                      options_.board.target, ended.signal,
                                      strsignal(static_cast<int>(ended.signal))));
    return 128 + static_cast<int>(ended.signal);
  }

 private:
  [[noreturn]] void lost() {
    throw EngineError(connection_.reason(options_.board, options_.version));
  }

  /// One round of waiting for what can be read or written; `longest`: of silence.
  void turn(std::chrono::milliseconds longest) {
    const bool has_room = !out_ || out_->waiting() + error_->waiting() < most_waiting;
    std::array<pollfd, 5> all{{{has_room ? link_.in() : -1, POLLIN, 0},
                               {link_.waiting() > 0 ? link_.out() : -1, POLLOUT, 0},
                               {connection_.errors(), POLLIN, 0},
                               {out_ ? out_->descriptor() : -1, POLLOUT, 0},
                               {error_ ? error_->descriptor() : -1, POLLOUT, 0}}};
    ::poll(all.data(), all.size(), static_cast<int>(tick.count()));
    if (all[0].revents != 0) link_.read_some();
    if (all[2].revents != 0) connection_.read_errors();
    if (all[3].revents != 0) out_->write_some();
    if (all[4].revents != 0) error_->write_some();
    link_.beat();
    link_.write_some();
    if (!has_room) link_.hear_now();  // who reads us is slow, not the board
    if (Clock::now() - link_.heard() > longest)
      throw EngineError(fmt::format("{}: the connection was lost: nothing came for {} s",
                                    options_.board.target, longest.count() / 1000));
  }

  /// The next message, of these kinds.
  WireMessage await(std::initializer_list<Kind> kinds, std::chrono::milliseconds longest) {
    link_.hear_now();
    while (true) {
      if (std::optional<WireMessage> message = link_.next()) {
        if (message->kind == Kind::failure)
          throw EngineError(fmt::format("{}: {}", options_.board.target,
                                        FieldReader(message->body).text()));
        if (std::ranges::find(kinds, message->kind) != kinds.end()) return *message;
        throw BadMessage("a message came at a wrong time");
      }
      if (link_.is_closed()) lost();
      turn(longest);
    }
  }

  void greet() {
    const InterruptGuard interrupt(options_.context.interrupt);
    while (!link_.is_greeted()) {
      interrupt.check();
      if (link_.is_closed()) lost();
      turn(patience_at_first);
    }
    const Hello hello = read_hello(await({Kind::hello}, patience_at_first).body);
    const std::string& target = options_.board.target;
    if (hello.protocol != protocol || hello.version != options_.version)
      throw EngineError(fmt::format("{}: Millrace there is version {}, here it is {}; install the "
                                    "same version on both", target,
                                    hello.version.empty() ? "of another protocol" : hello.version,
                                    options_.version));
    root_ = hello.root;
    if (root_.find_first_of(std::string_view("\0\n", 2)) != root_.npos || !root_.starts_with('/'))
      throw BadMessage("the session's folder is none");
  }

  /// The content of a text that names files by absolute paths, as the board needs it.
  std::optional<std::string> changed(const fs::path& file) const {
    constexpr std::uintmax_t most = std::uintmax_t{64} << 20;
    std::error_code error;
    const std::string ending = file.extension().string();
    const bool may_name = ending == ".json" || ending == ".yaml" || ending == ".yml";
    if (!may_name || fs::file_size(file, error) > most || error) return std::nullopt;
    const std::string text = read_file(file);
    std::string result = with_root(text, root_, paths_);
    if (result == text) return std::nullopt;
    return result;
  }

  /// This side is there, though busy.
  void stay() {
    link_.beat();
    link_.write_some();
  }

  void offer(const fs::path& path) {
    std::error_code error;
    FileOffer file;
    file.name = name_of(path);
    if (file.name.empty() || !names_.insert(file.name).second) return;
    if (fs::is_directory(path, error)) return link_.send(Kind::file, body_of(file));
    const auto text = changed(path);
    file.digest = text ? Hasher().add(std::as_bytes(std::span(*text))).digits()
                       : digest_of_file(path, [this] { stay(); });
    file.size = static_cast<std::int64_t>(text ? text->size() : fs::file_size(path, error));
    file.is_own = text || may_write(command_, file.name);
    link_.send(Kind::file, body_of(file));
    offered_[(file.is_own ? "own " : "") + file.digest] = path;
    while (link_.waiting() > most_waiting && !link_.is_closed()) turn(patience_at_work);
  }

  void send_files() {
    for (const fs::path& path : command_.reads) paths_.insert("/" + name_of(path));
    for (const Written& written : command_.writes) paths_.insert("/" + name_of(written.path));
    const InterruptGuard interrupt(options_.context.interrupt);
    for (const fs::path& path : command_.reads) {
      interrupt.check();
      offer(path);
    }
    for (const Written& written : command_.writes) offer_folder(written.path);
    link_.send(Kind::file_end);
    std::vector<fs::path> wanted;
    for (WireMessage message = await({Kind::wanted, Kind::wanted_end}, patience_at_work);
         message.kind == Kind::wanted;
         message = await({Kind::wanted, Kind::wanted_end}, patience_at_work))
      wanted.push_back(path_of_wanted(message.body));
    send_content(wanted, interrupt);
  }

  /// Where a file can be written here, it can there.
  void offer_folder(const fs::path& path) {
    std::error_code error;
    const fs::path folder = fs::absolute(path).parent_path();
    const std::string name = name_of(folder);
    if (fs::is_directory(folder, error) && !name.empty() && names_.insert(name).second)
      link_.send(Kind::file, body_of(FileOffer{name, {}, 0, false}));
  }

  fs::path path_of_wanted(std::string_view body) const {
    FieldReader fields(body);
    const std::string digest = fields.text();
    const bool is_own = fields.number() != 0;
    const auto found = offered_.find((is_own ? "own " : "") + digest);
    if (found == offered_.end()) throw BadMessage("a file is wanted that was not offered");
    return found->second;
  }

  void send_content(const std::vector<fs::path>& files, const InterruptGuard& interrupt) {
    if (files.empty()) return;
    const auto work = options_.context.begin("sending files");
    std::uintmax_t all = 1, sent = 0;
    for (const fs::path& file : files) all += fs::file_size(file);
    for (const fs::path& file : files) {
      const auto from = content_of(file);
      for (std::string bytes = piece_of(*from); !bytes.empty(); bytes = piece_of(*from)) {
        interrupt.check();
        send_piece(bytes);
        sent += bytes.size();
        work->show(static_cast<double>(sent) / static_cast<double>(all), file.filename().string());
      }
      link_.send(Kind::piece_end);
    }
  }

  std::unique_ptr<std::istream> content_of(const fs::path& file) const {
    if (auto text = changed(file)) return std::make_unique<std::istringstream>(std::move(*text));
    return std::make_unique<std::ifstream>(open_regular_file(file));
  }

  void send_piece(const std::string& bytes) {
    link_.send(Kind::piece, bytes);
    while (link_.waiting() > most_waiting) {
      if (link_.is_closed()) lost();
      turn(patience_of_disk);
    }
  }

  static std::string piece_of(std::istream& from) {
    std::string bytes(piece_size, '\0');
    from.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(from.gcount()));
    return bytes;
  }

  void start() {
    Start start;
    start.folder = name_of(fs::current_path());
    for (const Word& word : command_.words)
      start.words.push_back(word.before + (word.path.starts_with('/') ? root_ : "") + word.path);
    start.has_terminal_out = options_.terminals.out;
    start.has_terminal_err = options_.terminals.error;
    start.columns = options_.terminals.columns;
    start.terminal = options_.terminals.kind;
    link_.send(Kind::start, body_of(start));
    out_.emplace(STDOUT_FILENO, root_);
    error_.emplace(STDERR_FILENO, root_);
    link_.hear_now();
  }

  void take(const WireMessage& message) {
    FieldReader fields(message.body);
    if (message.kind == Kind::output) {
      const Output output = read_output(message.body);
      (output.is_error ? error_ : out_)->take(output.bytes);
    } else if (message.kind == Kind::produced) {
      take_produced(fields.text());
    } else if (message.kind == Kind::failure) {
      throw EngineError(fmt::format("{}: {}", options_.board.target, fields.text()));
    } else if (message.kind != Kind::produced_end) {
      throw BadMessage("a message came at a wrong time");
    }
  }

  void take_produced(const std::string& name) {
    checked_name(name);
    if (may_write(command_, name)) produced_.push_back(name);
    else left_.push_back(name);
  }

  Ended follow() {
    const InterruptGuard interrupt(options_.context.interrupt);
    std::optional<Ended> ended;
    while (!ended) {
      if (interrupt.take()) link_.send(Kind::interrupt);
      if (link_.is_closed() && !(ended = take_all())) lost();
      if (!ended) ended = take_all();
      if (!ended) turn(patience_at_work);
    }
    for (std::optional<OwnStream>* own : {&out_, &error_}) (*own)->end();
    while (out_->waiting() + error_->waiting() > 0) write_own();
    if (!left_.empty())
      options_.context.note(fmt::format("{} wrote {} too, which no option names; it was not taken",
                                        options_.board.target, short_name("/" + left_.front())));
    return *ended;
  }

  void write_own() {
    std::array<pollfd, 2> all{{{out_->descriptor(), POLLOUT, 0},
                               {error_->descriptor(), POLLOUT, 0}}};
    ::poll(all.data(), all.size(), static_cast<int>(tick.count()));
    if (all[0].revents != 0) out_->write_some();
    if (all[1].revents != 0) error_->write_some();
  }

  /// Takes all that has come; returns how it ended, if that was among it.
  std::optional<Ended> take_all() {
    while (const std::optional<WireMessage> message = link_.next()) {
      if (message->kind == Kind::ended) return read_ended(message->body);
      take(*message);
    }
    return std::nullopt;
  }

  /// All of them come before the first gets its name.
  void fetch_all() {
    const InterruptGuard interrupt(options_.context.interrupt);
    std::vector<std::unique_ptr<TemporaryFile>> files;
    for (const std::string& name : produced_) {
      const fs::path place = "/" + name;
      std::error_code ignored;  // writing fails with its own reason
      fs::create_directories(place.parent_path(), ignored);
      files.push_back(std::make_unique<TemporaryFile>(target_of(place)));
      fetch(name, files.back()->path(), interrupt);
    }
    for (const auto& file : files) file->rename();
  }

  void fetch(const std::string& name, const fs::path& into, const InterruptGuard& interrupt) {
    link_.send(Kind::give, FieldWriter().add(name).body());
    std::ofstream file(into, std::ios::binary);
    RootRemover root(is_text(name) ? root_ : "");
    for (WireMessage message = await({Kind::piece, Kind::piece_end}, patience_of_disk);
         message.kind == Kind::piece;
         message = await({Kind::piece, Kind::piece_end}, patience_of_disk)) {
      interrupt.check();
      file << root.pass(message.body);
    }
    file << root.end();
    if (!file.flush()) cannot_write("/" + name, errno);
  }

  const ClientOptions& options_;
  const Command& command_;
  Connection connection_;
  Link link_;
  std::string root_;             // there
  std::set<std::string> paths_;  // of what is read and written, absolute
  std::set<std::string> names_;  // of what was offered
  std::map<std::string, fs::path> offered_;  // by digest, of own files apart
  std::optional<OwnStream> out_, error_;
  std::vector<std::string> produced_, left_;
};

}  // namespace

int run_there(const ClientOptions& options, const Command& command) {
  try {
    return Client(options, command).run();
  } catch (const BadMessage& error) {
    throw EngineError(fmt::format("{}: it does not speak as an agent of Millrace does: {}",
                                  options.board.target, error.what()));
  }
}

}  // namespace millrace::remote
