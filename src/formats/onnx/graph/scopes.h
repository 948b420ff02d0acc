#pragma once
// What the names of the file stand for, in the graph that is read and in those around it.
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"

namespace onnx {
class FunctionProto;
}

namespace millrace::formats::onnx {

/// What a name stands for: a tensor, or a problem that left it without one, or nothing at all (an
/// optional input that was left out).
struct Known {
  std::optional<TensorId> id;
  std::optional<std::size_t> problem;
};

/// A graph inside of a node, or a function.
struct Inner {
  std::string prefix;                 // of the names of its layers and tensors
  std::string place;                  // for messages
  std::optional<std::int64_t> opset;  // a function's: it sees no names from outside
  const ::onnx::FunctionProto* function = nullptr;
};

class Scopes {
 public:
  explicit Scopes(std::int64_t opset) : all_{{{}, opset, true, nullptr, {}}} {}

  std::int64_t opset() const { return all_.back().opset; }
  /// Prefix of names in the graph that is read now.
  const std::string& prefix() const { return all_.back().prefix; }
  bool is_inside() const { return all_.size() > 1; }
  /// Whether what is read now is part of a call of the function.
  bool is_inside(const ::onnx::FunctionProto& function) const;

  /// From now on the name has this meaning in the graph that is read, unless it has one there.
  void define(const std::string& name, const Known& value) {
    all_.back().values.emplace(name, value);
  }
  void replace(const std::string& name, const Known& value) {
    all_.back().values.insert_or_assign(name, value);
  }
  Known known(const std::string& name) const;
  std::optional<TensorId> find(const std::string& name) const { return known(name).id; }
  std::optional<std::size_t> problem_of(const std::string& name) const {
    return known(name).problem;
  }
  /// Whether the name means anything, in this graph or in one around it.
  bool knows(const std::string& name) const { return lookup(name) != nullptr; }
  bool is_own(const std::string& name) const { return all_.back().values.contains(name); }

 private:
  friend class Scope;
  struct Names {
    std::string prefix;
    std::int64_t opset = 0;
    bool sees_outer = true;
    const ::onnx::FunctionProto* function = nullptr;
    std::unordered_map<std::string, Known> values;
  };
  void enter(const Inner& inner);
  const Known* lookup(const std::string& name) const;

  std::vector<Names> all_;  // from the outermost graph to the one that is read now
};

/// While it lives, names are those of a graph inside of a node. InputError if too many of them lie
/// inside each other.
class Scope {
 public:
  Scope(Scopes& names, const Inner& inner) : names_(names) { names.enter(inner); }
  ~Scope() { names_.all_.pop_back(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Scopes& names_;
};

}  // namespace millrace::formats::onnx
