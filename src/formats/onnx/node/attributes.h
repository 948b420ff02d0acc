#pragma once
// The attributes of one node, with types checked.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/network_names.h"

namespace onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace millrace::formats::onnx {

class ExternalFiles;

/// Borrows the node. Every function throws InputError at `place` if the attribute has another
/// type than the one asked for.
class Attributes {
 public:
  Attributes(const ::onnx::NodeProto& node, std::string place)
      : node_(&node), place_(std::move(place)) {}

  /// Fails on an attribute that is not among `known`, names with spaces between them.
  void only(std::string_view known) const;

  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  bool flag(std::string_view name, bool fallback) const;
  float number(std::string_view name, float fallback) const;
  std::string text(std::string_view name, const std::string& fallback) const;
  /// Nothing if the attribute is absent.
  std::optional<Shape> integers(std::string_view name) const;
  std::optional<std::vector<float>> numbers(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;  // empty if it is absent
  Array tensor(std::string_view name, ExternalFiles& files) const;
  /// The graph that must be there.
  const ::onnx::GraphProto& graph(std::string_view name) const;
  /// The integer that must be there.
  std::int64_t required_integer(std::string_view name) const;
  /// The same; it names a type that networks have.
  DataType type(std::string_view name) const;

 private:
  const ::onnx::AttributeProto* find(std::string_view name) const;
  const ::onnx::AttributeProto* find(std::string_view name, int type) const;
  [[noreturn]] void fail(const std::string& text) const;

  const ::onnx::NodeProto* node_;
  std::string place_;
};

}  // namespace millrace::formats::onnx
