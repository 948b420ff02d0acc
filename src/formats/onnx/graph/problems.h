#pragma once
// What could not be read of a model, until it is known whether an output needs it.
#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"

namespace millrace::formats::onnx {

/// No loops compute the operator, and no engine that was asked.
class UnknownOperator : public InputError {
 public:
  using InputError::InputError;
};

/// Why there is no value for the outputs of a node.
struct Problem {
  std::string unsupported;          // the operator, if no engine has it
  std::string node;                 // its name, for lists
  std::vector<InputError> error;    // one, or none if only the causes are to blame
  std::vector<std::size_t> causes;  // of problems that came before
};

class Problems {
 public:
  /// Throws the problem's error if there are too many to keep.
  std::size_t add(Problem problem);
  /// Throws what is wrong with values that are needed, `roots`: all operators that are not
  /// supported at once, else the first error. `file` is the place where there are several.
  [[noreturn]] void refuse(const std::vector<std::size_t>& roots, const std::string& file) const;

  /// What to say of an operator that is not supported; `make` is asked once for each, for finding a
  /// similar one takes long.
  const std::string& hint(const std::string& op_type, const std::function<std::string()>& make);

  /// How an engine would run what no loops do; the last one counts.
  void say_remedy(std::string remedy) { remedy_ = std::move(remedy); }

  /// Whether any of the problems behind the roots is an operator that is not supported.
  bool lacks_operator(const std::vector<std::size_t>& roots) const;

 private:
  std::vector<std::size_t> reached_from(const std::vector<std::size_t>& roots) const;

  std::vector<Problem> all_;
  std::string remedy_;
  std::unordered_map<std::string, std::string> hints_;  // by operator
};

}  // namespace millrace::formats::onnx
