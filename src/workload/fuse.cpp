#include "workload/fuse.h"

#include <algorithm>
#include <limits>

#include "workload/chain.h"

namespace millrace::workload {
namespace {

constexpr std::size_t longest_chain = 12;

/// Rows of layers that may be one workload: each reads the rows that the one before it writes, and
/// nothing else does.
class Rows {
 public:
  Rows(const network::Network& network, const std::vector<Piece>& pieces, std::int64_t element)
      : members_(pieces.size()), before_(pieces.size()), after_(pieces.size()) {
    for (std::size_t i = 0; i < pieces.size(); ++i) add_member(network, pieces[i], i, element);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (members_[i] && pieces[i].reader) join(network, pieces, i);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (before_[i]) after_[*before_[i]] = i;
  }

  /// Indices of pieces.
  std::vector<std::vector<std::size_t>> all() const {
    std::vector<std::vector<std::size_t>> rows;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (before_[i] || !after_[i]) continue;
      rows.push_back({i});
      while (after_[rows.back().back()]) rows.back().push_back(*after_[rows.back().back()]);
    }
    return rows;
  }

  const ChainMember& member(std::size_t piece) const { return *members_[piece]; }

 private:
  void add_member(const network::Network& network, const Piece& piece, std::size_t index,
                  std::int64_t element) {
    if (!piece.tiling.tiled) return;
    auto rows = row_layer(network, piece.tiling.layer, element);
    auto* found = std::get_if<RowLayer>(&rows);
    if (!found) return;
    found->geometry.activation = piece.geometry.activation;
    found->geometry.output.tensor = piece.geometry.output.tensor;
    members_[index] = ChainMember{piece.tiling.layer, piece.tiling.activation, std::move(*found)};
  }

  /// A layer that could follow several follows the latest of them.
  void join(const network::Network& network, const std::vector<Piece>& pieces, std::size_t index) {
    const auto reader = std::ranges::find(pieces, *pieces[index].reader,
                                          [](const Piece& piece) { return piece.tiling.layer; });
    if (reader == pieces.end()) return;
    const auto next = static_cast<std::size_t>(reader - pieces.begin());
    if (!members_[next]) return;
    const TensorId tensor = output_of(network, pieces[index]);
    RowLayer& rows = members_[next]->rows;
    const auto reads = [&](const Operand& source) { return source.tensor == tensor; };
    const auto source = std::ranges::find_if(rows.geometry.sources, reads);
    if (std::ranges::count_if(rows.geometry.sources, reads) != 1 || !has_rows(*source)) return;
    rows.input = static_cast<std::size_t>(source - rows.geometry.sources.begin());
    before_[next] = index;
  }

  std::vector<std::optional<ChainMember>> members_;
  std::vector<std::optional<std::size_t>> before_, after_;
};

/// The best way to cut one row of layers.
class RowCuts {
 public:
  RowCuts(const network::Network& network, const TileTarget& target, std::vector<Piece>& pieces)
      : network_(network), target_(target), pieces_(pieces) {}

  void cut(const Rows& rows, const std::vector<std::size_t>& row) {
    best_.assign(row.size() + 1, {});
    best_[0].seconds = 0;
    for (std::size_t begin = 0; begin < row.size(); ++begin) extend(rows, row, begin);
    for (std::size_t end = row.size(); end > 0; end = best_[end].begin)
      if (best_[end].chain) take(row, end);
  }

 private:
  /// The layers up to somewhere, the last of them from `begin` on as one workload.
  struct Cut {
    double seconds = std::numeric_limits<double>::infinity();
    std::size_t begin = 0;
    std::optional<ChainTiling> chain = {};  // nothing: the layer alone
  };

  void extend(const Rows& rows, const std::vector<std::size_t>& row, std::size_t begin) {
    const double alone = best_[begin].seconds + pieces_[row[begin]].tiling.cost.seconds;
    if (alone < best_[begin + 1].seconds) best_[begin + 1] = {alone, begin, {}};
    std::vector<ChainMember> chain{rows.member(row[begin])};
    const std::size_t last = std::min(row.size(), begin + longest_chain);
    for (std::size_t i = begin + 1; i < last; ++i) {
      chain.push_back(rows.member(row[i]));
      std::optional<ChainTiling> tiling = best_chain(network_, chain, target_);
      if (!tiling) continue;
      const double seconds = best_[begin].seconds + tiling->cost.seconds;
      if (seconds < best_[i + 1].seconds) best_[i + 1] = {seconds, begin, std::move(tiling)};
    }
  }

  void take(const std::vector<std::size_t>& row, std::size_t end) {
    Cut& cut = best_[end];
    LayerTiling& tiling = pieces_[row[end - 1]].tiling;
    for (std::size_t i = cut.begin; i + 1 < end; ++i) {
      Piece& piece = pieces_[row[i]];
      piece.is_fused = true;
      tiling.before.push_back(piece.tiling.layer);
      if (piece.tiling.activation) tiling.before.push_back(*piece.tiling.activation);
    }
    tiling.tiling = {};
    tiling.cost = cut.chain->cost;
    tiling.bound = cut.chain->bound;
    pieces_[row[end - 1]].fused = std::move(cut.chain->workload);
  }

  const network::Network& network_;
  const TileTarget& target_;
  std::vector<Piece>& pieces_;
  std::vector<Cut> best_;  // by number of layers
};

}  // namespace

TensorId output_of(const network::Network& network, const Piece& piece) {
  return network[piece.tiling.activation.value_or(piece.tiling.layer)].outputs[0];
}

void fuse(const network::Network& network, std::vector<Piece>& pieces, const TileTarget& target) {
  const Rows rows(network, pieces, target.element);
  for (const std::vector<std::size_t>& row : rows.all())
    RowCuts(network, target, pieces).cut(rows, row);
}

}  // namespace millrace::workload
