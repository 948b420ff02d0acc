#pragma once
// The one exception that calls of the library throw.
#include <stdexcept>
#include <string>
#include <utility>

namespace millrace {
inline namespace v1 {

enum class ErrorKind {
  input,       // something the caller gave is wrong: a file, a field, a tensor
  infeasible,  // the request is right, but no plan or deployment meets it
  machine,     // a device, a library or the system failed
  cancelled,   // the request's token asked for it
};

/// what() has place, finding and remedy in one text. Copies may be read by any thread.
class Error : public std::runtime_error {
 public:
  struct Parts {
    std::string place = {};    // file, line or field; empty: no single one
    std::string finding = {};  // what was found, and what was expected
    std::string remedy = {};   // what to do; empty: nothing that the library knows
  };
  Error(ErrorKind kind, const std::string& text, Parts parts)
      : std::runtime_error(text), kind_(kind), parts_(std::move(parts)) {}

  ErrorKind kind() const { return kind_; }
  const std::string& place() const { return parts_.place; }
  const std::string& finding() const { return parts_.finding; }
  const std::string& remedy() const { return parts_.remedy; }

 private:
  ErrorKind kind_;
  Parts parts_;
};

}  // namespace v1
}  // namespace millrace
