#pragma once
// Operators that make or read booleans.

namespace millrace::network {

enum class CompareKind { equal, less, less_or_equal, greater, greater_or_equal };
/// Two inputs with multidirectional broadcasting, to booleans.
struct Compare {
  CompareKind kind = CompareKind::equal;
};
/// To booleans: whether the elements are of this kind.
enum class TestKind { is_nan, is_inf };
struct Test {
  TestKind kind = TestKind::is_nan;
  bool negative = true, positive = true;  // which infinities count
};
/// Inputs condition, X, Y, with multidirectional broadcasting: X where the condition holds.
struct Where {};

}  // namespace millrace::network
