// Pages by cpp-httplib: in a library of its own, as the command needs it rarely.
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <thread>

#include "serve/http/http.h"

namespace millrace::serve {
namespace {

constexpr std::size_t threads = 12;  // each stream has one
constexpr int most_seconds = 5;      // that a client may take for a request or a piece

Query query_of(const httplib::Request& request) {
  return {request.params.begin(), request.params.end()};
}

/// Not shared with another process, as the library would have it.
void set_socket(socket_t socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

/// False: the client is gone, or the stream has failed: the connection ends then, as the library
/// passes no exception on.
bool give(const Pieces& pieces, httplib::DataSink& sink) {
  try {
    const auto piece = pieces();
    if (!piece) sink.done();
    if (!piece || piece->empty()) return piece && sink.is_writable();
    return sink.write(piece->data(), piece->size());
  } catch (const std::exception&) {
    return false;
  }
}

/// Ends what a thread may still wait for: that a client sends a request, or reads on. A socket
/// whose own port is the server's, and that has another end, is such a client's.
void cut_off_clients(int port) {
  std::error_code error;
  for (std::filesystem::directory_iterator each("/proc/self/fd", error), end; !error && each != end;
       each.increment(error)) {
    const int file = std::atoi(each->path().filename().c_str());
    sockaddr_storage own{}, other{};
    socklen_t size = sizeof own, other_size = sizeof other;
    auto* const own_address = reinterpret_cast<sockaddr*>(&own);
    if (getsockname(file, own_address, &size) != 0) continue;
    if (getpeername(file, reinterpret_cast<sockaddr*>(&other), &other_size) != 0) continue;
    const in_port_t number = own.ss_family == AF_INET6
                                 ? reinterpret_cast<sockaddr_in6&>(own).sin6_port
                                 : reinterpret_cast<sockaddr_in&>(own).sin_port;
    const bool is_internet = own.ss_family == AF_INET || own.ss_family == AF_INET6;
    if (is_internet && ntohs(number) == port) shutdown(file, SHUT_RDWR);
  }
}

class Server final : public HttpServer {
 public:
  explicit Server(const Pages& pages) : type_(pages.type_of_streams) {
    server_.new_task_queue = [] { return new httplib::ThreadPool(threads); };
    server_.set_socket_options(set_socket);
    server_.set_keep_alive_max_count(1);
    server_.set_read_timeout(most_seconds);
    server_.set_write_timeout(most_seconds);
    server_.set_payload_max_length(1024);
    for (const auto& [path, page] : pages.pages) add(path, page);
    for (const auto& [path, stream] : pages.streams) add_stream(path, stream);
  }
  ~Server() override {
    server_.stop();
    if (!thread_.joinable()) return;
    cut_off_clients(address_.port);
    thread_.join();
  }

  bool listen(const Address& address) {
    address_ = address;
    if (address.port == 0) address_.port = server_.bind_to_any_port(address.host);
    const bool is_bound =
        address.port == 0 ? address_.port > 0 : server_.bind_to_port(address.host, address.port);
    if (!is_bound) return false;
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();  // before that, stop() does nothing
    return true;
  }
  Address address() const override { return address_; }

 private:
  void add(const std::string& path, const std::function<Answer(const Query&)>& page) {
    server_.Get(path, [page](const httplib::Request& request, httplib::Response& response) {
      const Answer answer = page(query_of(request));
      response.status = answer.status;
      response.set_header("Cache-Control", "no-store");
      response.set_content(answer.body, answer.type);
    });
  }
  void add_stream(const std::string& path, const std::function<Pieces(const Query&)>& stream) {
    server_.Get(path, [this, stream](const httplib::Request& request, httplib::Response& response) {
      response.set_header("Cache-Control", "no-store");
      const Pieces pieces = stream(query_of(request));
      if (!pieces) {
        response.status = 503;
        return;
      }
      response.set_content_provider(
          type_, [pieces](std::size_t, httplib::DataSink& sink) { return give(pieces, sink); });
    });
  }

  httplib::Server server_;
  std::string type_;
  Address address_;
  std::thread thread_;
};

}  // namespace

extern "C" {

HttpServer* millrace_http(const Address& address, const Pages& pages) {
  auto server = std::make_unique<Server>(pages);
  return server->listen(address) ? server.release() : nullptr;
}
}

}  // namespace millrace::serve
