#pragma once
// Pages over HTTP. The library that serves them is loaded when the first page is.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "serve/address.h"

namespace millrace::serve {

struct Answer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8", body = {};
};

/// What stands behind the question mark.
using Query = std::map<std::string, std::string>;

/// The next piece of an answer without an end. It may wait for a second, and give an empty piece
/// then; nothing: the end.
using Pieces = std::function<std::optional<std::string>()>;

struct Pages {
  std::map<std::string, std::function<Answer(const Query&)>> pages;    // by path; any threads
  std::map<std::string, std::function<Pieces(const Query&)>> streams;  // null: not now
  std::string type_of_streams = {};
};

/// Serves until it is gone. Streams have to end by then; who still reads is cut off.
class HttpServer {
 public:
  virtual ~HttpServer() = default;
  virtual Address address() const = 0;  // with the port that it has
};

/// EngineError if nobody can listen there, or this build or machine lacks the library.
std::unique_ptr<HttpServer> serve_pages(const Address& address, const Pages& pages);

/// What the library exports as millrace_http: the caller's. Null: the address cannot be had.
using ServePages = HttpServer* (*)(const Address& address, const Pages& pages);

}  // namespace millrace::serve
