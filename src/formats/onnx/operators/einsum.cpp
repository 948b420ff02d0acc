// Einsum as diagonals, sums, products of matrices and a transposition.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "formats/onnx/node/node.h"
#include "formats/onnx/operators/tables.h"
#include "formats/onnx/tensor_data.h"

namespace millrace::formats::onnx {
namespace {

/// Letters by their code; dimensions of an ellipsis are `first_ellipsis` and more, the last
/// dimension being the largest.
using Labels = std::vector<int>;
constexpr int first_ellipsis = 1000;
constexpr int last_ellipsis = 1099;

struct Term {
  TensorId id;
  Labels labels;
};

bool holds(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

class Contraction {
 public:
  explicit Contraction(Node& node) : node_(node) { parse(); }

  void run() {
    for (Term& term : terms_) {
      drop_repeated(term);
      drop_ones(term);
    }
    Term result = terms_.front();
    for (std::size_t i = 1; i < terms_.size(); ++i) result = product(result, i);
    sum_out(result, [&](int label) { return holds(output_, label); });
    node_.give(0, in_order(result, output_).id);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    node_.fail(fmt::format("the equation '{}' {}", equation_, why));
  }
  const Shape& shape(const Term& term) const { return node_.tensor(term.id).shape; }

  void parse() {
    equation_ = node_.attributes().text("equation", "");
    std::string text = equation_;
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    const std::size_t arrow = text.find("->");
    parse_terms(text.substr(0, arrow));
    if (arrow == std::string::npos)
      output_ = implied_output();
    else
      output_ = labels_of(text.substr(arrow + 2), ellipsis_);
    if (std::set<int>(output_.begin(), output_.end()).size() != output_.size())
      refuse("has a letter twice in its result");
    for (const int label : output_)
      if (!sizes_.contains(label)) refuse("has a letter in its result that no input has");
  }

  void parse_terms(const std::string& text) {
    std::vector<std::string> parts{""};
    for (const char c : text) {
      if (c == ',')
        parts.emplace_back();
      else
        parts.back() += c;
    }
    if (parts.size() != node_.optional_inputs().size())
      refuse(fmt::format("is for {} inputs, but there are {}", parts.size(),
                         node_.optional_inputs().size()));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Labels plain = labels_of(parts[i], 0);
      const auto rank = static_cast<std::size_t>(node_.rank(i));
      const bool open = parts[i].find('.') != std::string::npos;
      if (plain.size() > rank || (!open && plain.size() != rank))
        refuse(fmt::format("does not fit the {} dimensions of '{}'", rank, node_.tensor(i).name));
      const auto more = static_cast<int>(rank - plain.size());
      if (open) ellipsis_ = std::max(ellipsis_, more);
      terms_.push_back({node_.input(i), labels_of(parts[i], more)});
      for (std::size_t d = 0; d < rank; ++d) note_size(terms_.back().labels[d], node_.shape(i)[d]);
    }
  }

  void note_size(int label, std::int64_t size) {
    const auto [place, is_new] = sizes_.emplace(label, size);
    if (is_new || size == place->second || size == 1) return;
    if (place->second != 1)
      refuse(fmt::format("gives one dimension the sizes {} and {}", place->second, size));
    place->second = size;
  }

  Labels labels_of(const std::string& text, int ellipsis) const {
    Labels labels;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        labels.push_back(c);
        continue;
      }
      if (text.compare(i, 3, "...") != 0 || text.find('.', i + 3) != std::string::npos)
        refuse("has something other than letters, commas, '->' and one ellipsis for each input");
      i += 2;
      for (int n = ellipsis; n > 0; --n) labels.push_back(last_ellipsis + 1 - n);
    }
    return labels;
  }

  /// The dimensions of the ellipsis, then the letters that are there once, by the alphabet.
  Labels implied_output() const {
    std::map<int, int> uses;
    for (const Term& term : terms_)
      for (const int label : term.labels) ++uses[label];
    Labels result;
    for (const auto& [label, count] : uses)
      if (label >= first_ellipsis) result.push_back(label);
    for (const auto& [label, count] : uses)
      if (label < first_ellipsis && count == 1) result.push_back(label);
    return result;
  }

  Term reshaped(const Term& term, Labels labels, const Shape& to) {
    if (shape(term) == to) return {term.id, std::move(labels)};
    check_shape(type(), to, node_.place());
    return {node_.add(Reshape{}, {term.id}, {type(), to}), std::move(labels)};
  }
  DataType type() const { return node_.type(0); }

  Term in_order(const Term& term, const Labels& labels) {
    if (labels == term.labels) return term;
    Shape order, to;
    for (const int label : labels) {
      const auto at = std::find(term.labels.begin(), term.labels.end(), label);
      order.push_back(at - term.labels.begin());
      to.push_back(shape(term)[static_cast<std::size_t>(order.back())]);
    }
    return {node_.add(Transpose{order}, {term.id}, {type(), to}), labels};
  }

  /// A letter twice in one input is its diagonal.
  void drop_repeated(Term& term) {
    while (true) {
      Labels seen;
      std::size_t second = 0;
      while (second < term.labels.size() && !holds(seen, term.labels[second]))
        seen.push_back(term.labels[second++]);
      if (second == term.labels.size()) return;
      const int label = term.labels[second];
      const auto first =
          static_cast<std::size_t>(std::find(seen.begin(), seen.end(), label) - seen.begin());
      take_diagonal(term, first, second);
    }
  }

  void take_diagonal(Term& term, std::size_t first, std::size_t second) {
    const std::int64_t size = shape(term)[first];
    if (shape(term)[second] != size) refuse("takes the diagonal of what is not square");
    Shape order, to;
    Labels labels;
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
      if (i == first || i == second) continue;
      order.push_back(static_cast<std::int64_t>(i));
      to.push_back(shape(term)[i]);
      labels.push_back(term.labels[i]);
    }
    labels.push_back(term.labels[first]);
    order.insert(order.end(),
                 {static_cast<std::int64_t>(first), static_cast<std::int64_t>(second)});
    Shape moved = to;
    moved.insert(moved.end(), {size, size});
    const TensorId square = node_.add(Transpose{order}, {term.id}, {type(), moved});
    to.push_back(size * size);
    const Term line = reshaped({square, {}}, {}, to);
    Slice slice{Shape(to.size(), 0), Shape(to.size(), 1)};
    slice.steps.back() = size + 1;
    to.back() = size;
    term = {node_.add(std::move(slice), {line.id}, {type(), to}), std::move(labels)};
  }

  /// A dimension of 1 that another input has larger is repeated: as good as not there.
  void drop_ones(Term& term) {
    Labels labels;
    Shape to;
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
      const std::int64_t size = shape(term)[i];
      if (size == 1 && sizes_.at(term.labels[i]) != 1) continue;
      labels.push_back(term.labels[i]);
      to.push_back(size);
    }
    term = reshaped(term, std::move(labels), to);
  }

  template <class Stays>
  void sum_out(Term& term, Stays stays) {
    Shape axes, to;
    Labels labels;
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
      if (!stays(term.labels[i])) {
        axes.push_back(static_cast<std::int64_t>(i));
        continue;
      }
      labels.push_back(term.labels[i]);
      to.push_back(shape(term)[i]);
    }
    if (axes.empty()) return;
    term = {node_.add(Reduce{ReduceKind::sum, axes}, {term.id}, {type(), to}), std::move(labels)};
  }

  /// Dimensions of two terms by their role in a product of stacks of matrices.
  struct Roles {
    Labels batch, rows, inner, columns;
  };

  std::int64_t size_of_all(const Labels& labels) const {
    Shape sizes;
    for (const int label : labels) sizes.push_back(sizes_.at(label));
    return element_count(sizes, node_.place());
  }

  static Labels joined(const Labels& a, const Labels& b, const Labels& c) {
    Labels all = a;
    all.insert(all.end(), b.begin(), b.end());
    all.insert(all.end(), c.begin(), c.end());
    return all;
  }

  Term product(Term a, std::size_t next) {
    Term b = terms_[next];
    const auto is_needed = [&](int label) {
      if (holds(output_, label)) return true;
      return std::any_of(terms_.begin() + static_cast<std::ptrdiff_t>(next) + 1, terms_.end(),
                         [&](const Term& term) { return holds(term.labels, label); });
    };
    const Labels of_a = a.labels;
    sum_out(a, [&](int label) { return is_needed(label) || holds(b.labels, label); });
    sum_out(b, [&](int label) { return is_needed(label) || holds(of_a, label); });
    Roles roles;
    for (const int label : a.labels) {
      const bool shared = holds(b.labels, label);
      (!shared ? roles.rows : is_needed(label) ? roles.batch : roles.inner).push_back(label);
    }
    for (const int label : b.labels)
      if (!holds(a.labels, label)) roles.columns.push_back(label);
    return multiplied(a, b, roles);
  }

  Term multiplied(const Term& a, const Term& b, const Roles& roles) {
    const std::int64_t batch = size_of_all(roles.batch), rows = size_of_all(roles.rows),
                       inner = size_of_all(roles.inner), columns = size_of_all(roles.columns);
    const Term left = reshaped(in_order(a, joined(roles.batch, roles.rows, roles.inner)), {},
                               {batch, rows, inner});
    const Term right = reshaped(in_order(b, joined(roles.batch, roles.inner, roles.columns)), {},
                                {batch, inner, columns});
    const TensorId id = node_.add(MatMul{}, {left.id, right.id}, {type(), {batch, rows, columns}});
    Labels labels = joined(roles.batch, roles.rows, roles.columns);
    Shape to;
    for (const int label : labels) to.push_back(sizes_.at(label));
    return reshaped({id, {}}, std::move(labels), to);
  }

  Node& node_;
  std::string equation_;
  std::vector<Term> terms_;
  Labels output_;
  std::map<int, std::int64_t> sizes_;
  int ellipsis_ = 0;  // dimensions of the longest one
};

}  // namespace

void lower_einsum(Node& node) {
  need_same_types(node);
  Contraction(node).run();
}

}  // namespace millrace::formats::onnx
