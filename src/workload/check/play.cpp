#include <fmt/format.h>

#include <algorithm>

#include "workload/check/check.h"
#include "workload/check/tiles.h"

namespace millrace::workload {
namespace {

/// State of a byte: in a fast memory what was last done to it, in the first memory how often it was
/// written.
enum Mark : std::uint8_t { untouched, fresh, read };

struct PlayState {
  std::vector<JointState> sources;
  JointState sink;
  std::int64_t channels = 0;  // summed up since the sink moved
};

/// What a link touches in one run.
struct Touch {
  std::size_t link = 0, buffer = 0;
  std::int64_t begin = 0, end = 0;
  bool writes = false;
};

std::int64_t end_of(const Joint& joint, const Tile& tile) {
  std::int64_t end = tile.offset + joint.element;
  for (std::size_t i = 0; i < joint.side_count; ++i) end += (tile.counts[i] - 1) * tile.strides[i];
  return end;
}

/// f(begin, end) for each row of bytes that lie side by side, until f says false.
template <class F>
bool for_each_row(const Joint& joint, const Tile& tile, const F& f) {
  const std::size_t sides = joint.side_count;
  const bool dense = sides > 0 && tile.strides[sides - 1] == joint.element;
  const std::int64_t row = dense ? tile.counts[sides - 1] * joint.element : joint.element;
  const std::size_t outer = dense ? sides - 1 : sides;
  std::int64_t rows = 1;
  for (std::size_t i = 0; i < outer; ++i) rows *= tile.counts[i];
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t rest = r, begin = tile.offset;
    for (std::size_t i = outer; i-- > 0;) {
      begin += rest % tile.counts[i] * tile.strides[i];
      rest /= tile.counts[i];
    }
    if (!f(static_cast<std::size_t>(begin), static_cast<std::size_t>(begin + row))) return false;
  }
  return true;
}

/// f(element of the buffer, row of the tile) for all elements of a tile of channels, rows, columns.
template <class F>
void for_each_in_rows(const Joint& joint, const Tile& tile, const F& f) {
  for (std::int64_t c = 0; c < tile.counts[0]; ++c)
    for (std::int64_t r = 0; r < tile.counts[1]; ++r)
      for (std::int64_t x = 0; x < tile.counts[2]; ++x) {
        const std::int64_t place =
            tile.offset + c * tile.strides[0] + r * tile.strides[1] + x * tile.strides[2];
        f(static_cast<std::size_t>(place / joint.element), r);
      }
}

/// Which row of a layer's output lies where between two layers. Marks alone do not tell new rows
/// from old ones, which windows read again.
class RowsBetween {
 public:
  explicit RowsBetween(const Workload& workload)
      : workload_(workload), rows_(workload.buffers.size()), done_(workload.links.size()) {
    for (const Link& reader : workload.links)
      for (const Joint& source : reader.sources)
        if (computes(reader) && reader.operation != TileOperation::requantize &&
            is_written_by_a_layer(source.buffer))
          add(source);
  }

  /// What is wrong with the rows that a layer reads; empty: nothing.
  std::string wrong_row(std::size_t index, const Joint& source, const Tile& tile) const {
    const Link& link = workload_.links[index];
    if (!computes(link) || !has_rows(source)) return {};
    const std::int64_t begin = done_[index] * link.window.strides[0] - link.window.pads[0];
    const std::int64_t first = tile.first[1] ? 0 : begin;
    const auto& rows = rows_[static_cast<std::size_t>(source.buffer)];
    std::string wrong;
    for_each_in_rows(source, tile, [&](std::size_t at, std::int64_t row) {
      if (rows[at] != first + row && wrong.empty())
        wrong = fmt::format("row {} of the layer before, expected row {}", rows[at], first + row);
    });
    return wrong;
  }

  void write(std::size_t index, const Tile& source, const Tile& sink) {
    const Link& link = workload_.links[index];
    if (has_rows(link.sink)) {
      auto& rows = rows_[static_cast<std::size_t>(link.sink.buffer)];
      const std::vector<std::int64_t> moved = rows_of(link, source);
      std::size_t next = 0;
      for_each_in_rows(link.sink, sink, [&](std::size_t at, std::int64_t row) {
        rows[at] = computes(link) ? done_[index] + row : moved[next++];
      });
    }
    done_[index] += sink.counts[1];
  }

 private:
  static bool computes(const Link& link) { return link.kind == LinkKind::processing; }
  bool has_rows(const Joint& joint) const {
    return joint.side_count == 3 && !rows_[static_cast<std::size_t>(joint.buffer)].empty();
  }

  bool is_written_by_a_layer(std::int32_t buffer) const {
    return std::ranges::any_of(workload_.links, [&](const Link& writer) {
      return computes(writer) && writer.sink.buffer == buffer;
    });
  }

  void add(const Joint& joint) {
    const auto buffer = static_cast<std::size_t>(joint.buffer);
    const Region& region = workload_.buffers[buffer];
    if (region.memory != 0 && joint.side_count == 3)
      rows_[buffer].assign(static_cast<std::size_t>(region.size() / joint.element + 1), -1);
  }

  /// Rows of a transfer's tile; a tensor from elsewhere has no rows.
  std::vector<std::int64_t> rows_of(const Link& link, const Tile& tile) const {
    std::vector<std::int64_t> found;
    if (computes(link)) return found;
    const bool known = has_rows(link.sources[0]);
    const auto& rows = rows_[static_cast<std::size_t>(link.sources[0].buffer)];
    for_each_in_rows(link.sources[0], tile,
                     [&](std::size_t at, std::int64_t) { found.push_back(known ? rows[at] : -1); });
    return found;
  }

  const Workload& workload_;
  std::vector<std::vector<std::int64_t>> rows_;  // by buffer and element; empty: of no interest
  std::vector<std::int64_t> done_;               // by link: rows written so far
};

class Play {
 public:
  explicit Play(const Workload& workload)
      : workload_(workload), is_sink_(workload.buffers.size()), rows_(workload) {
    for (const Region& buffer : workload.buffers)
      marks_.emplace_back(static_cast<std::size_t>(buffer.size()), untouched);
    for (const Link& link : workload.links)
      states_.push_back({std::vector<JointState>(link.sources.size()), {}});
    for (const Link& link : workload.links)
      is_sink_[static_cast<std::size_t>(link.sink.buffer)] = true;
  }

  std::vector<std::string> run() {
    const std::int64_t steps = steps_of(workload_);
    for (std::int64_t step = 0; step < steps && found_.empty(); ++step) play(step);
    if (found_.empty()) check_ends();
    return std::move(found_);
  }

 private:
  bool is_active(const Link& link, std::int64_t step) const {
    const std::int64_t since = step - link.delay;
    return since >= 0 && since % link.period == 0 && since / link.period < runs_of(link);
  }

  void play(std::int64_t step) {
    step_ = step;
    std::vector<std::size_t> active;
    for (std::size_t i = 0; i < workload_.links.size(); ++i)
      if (is_active(workload_.links[i], step)) active.push_back(i);
    touches_.clear();
    for (const std::size_t i : active) touch(i);
    if (!found_.empty()) return;
    // Without races the order between units does not matter.
    if (workload_.overlapped) check_races();
    for (const std::size_t i : active) {
      check_sources(i);
      check_sink(i);
    }
    for (const std::size_t i : active) move_on(i);
  }

  void fail(const Link& link, const std::string& text) {
    if (found_.empty())
      found_.push_back(fmt::format("link '{}' in step {}: {}", link.name, step_, text));
  }

  void touch(const Link& link, const Joint& joint, const JointState& state, bool writes) {
    const Tile tile = tile_of(joint, state);
    const auto buffer = static_cast<std::size_t>(joint.buffer);
    const std::int64_t end = end_of(joint, tile), size = workload_.buffers[buffer].size();
    if (tile.offset < 0 || end > size)
      fail(link, fmt::format("its joint touches bytes {} to {} of the buffer '{}', which has {}",
                             tile.offset, end, workload_.buffers[buffer].name, size));
    touches_.push_back({static_cast<std::size_t>(&link - workload_.links.data()), buffer,
                        tile.offset, end, writes});
  }

  void touch(std::size_t index) {
    const Link& link = workload_.links[index];
    for (std::size_t i = 0; i < link.sources.size(); ++i)
      touch(link, link.sources[i], states_[index].sources[i], false);
    touch(link, link.sink, states_[index].sink, true);
    check_counts(link, states_[index]);
  }

  /// A transfer's two tiles are equal; windows find their inputs.
  void check_counts(const Link& link, PlayState& state) {
    const Tile sink = tile_of(link.sink, state.sink);
    if (link.kind == LinkKind::transfer) {
      const Tile source = tile_of(link.sources[0], state.sources[0]);
      if (source.counts != sink.counts)
        fail(link,
             fmt::format("it reads {} elements and writes {}", elements(source), elements(sink)));
      return;
    }
    std::vector<Tile> sources;
    for (std::size_t i = 0; i < link.sources.size(); ++i)
      sources.push_back(tile_of(link.sources[i], state.sources[i]));
    if (const std::string text = tile_violation(link, sources, sink); !text.empty())
      return fail(link, text);
    if (slides(link.operation)) check_windows(link, state, sink);
  }

  void check_windows(const Link& link, PlayState& state, const Tile& sink) {
    const Tile input = tile_of(link.sources[0], state.sources[0]);
    for (std::size_t i = 0; i < 2; ++i) {
      const TileWindow& w = link.window;
      const std::int64_t needed = (sink.counts[1 + i] - 1) * w.strides[i] +
                                  (w.kernel[i] - 1) * w.dilations[i] + 1 -
                                  (input.first[1 + i] ? w.pads[i] : 0);
      const std::int64_t lacks = needed - input.counts[1 + i];
      // A last window may begin inside and end beyond the padding.
      const std::int64_t allowed = w.pads_end[i] + w.strides[i] - 1;
      if (lacks > (is_last(link.sink, state.sink, 1 + i) ? allowed : 0))
        fail(link, fmt::format("its windows need {} {} of the input, but {} are there", needed,
                               i == 0 ? "rows" : "columns", input.counts[1 + i]));
    }
    check_channels(link, state, input.counts[0]);
  }

  void check_channels(const Link& link, PlayState& state, std::int64_t channels) {
    if (link.operation != TileOperation::convolution) return;
    state.channels = state.sink.iteration == 0 ? channels : state.channels + channels;
    if (state.sink.iteration == link.sink.period - 1 && state.channels != link.window.channels)
      fail(link, fmt::format("it sums up {} channels of the input, expected {}", state.channels,
                             link.window.channels));
  }

  static bool is_last(const Joint& joint, const JointState& state, std::size_t side) {
    const std::int32_t along = joint.sides[side].along;
    if (along < 0) return true;
    const auto step = static_cast<std::size_t>(along);
    return state.index[step] == joint.walk[step].count - 1;
  }

  static std::int64_t elements(const Tile& tile) {
    return tile.counts[0] * tile.counts[1] * tile.counts[2] * tile.counts[3];
  }

  void check_races() {
    for (const Touch& a : touches_)
      for (const Touch& b : touches_) {
        // Rows of an output may lie between those that another unit writes.
        const bool counts = workload_.buffers[a.buffer].memory != 0 || !b.writes;
        const bool meet = a.writes && a.buffer == b.buffer && a.begin < b.end &&
                          b.begin < a.end && counts;
        if (meet && workload_.links[a.link].unit != workload_.links[b.link].unit)
          fail(workload_.links[a.link],
               fmt::format("it writes to the buffer '{}' what link '{}' touches at the same time; "
                           "delays race",
                           workload_.buffers[a.buffer].name, workload_.links[b.link].name));
      }
  }

  void check_sources(std::size_t index) {
    const Link& link = workload_.links[index];
    for (std::size_t i = 0; i < link.sources.size(); ++i) {
      const auto buffer = static_cast<std::size_t>(link.sources[i].buffer);
      const bool fast = workload_.buffers[buffer].memory != 0;
      if (!fast && !is_sink(buffer)) continue;
      auto& marks = marks_[buffer];
      const bool written =
          for_each_row(link.sources[i], tile_of(link.sources[i], states_[index].sources[i]),
                       [&](std::size_t begin, std::size_t end) {
                         const auto from = marks.begin() + static_cast<std::ptrdiff_t>(begin);
                         const auto to = marks.begin() + static_cast<std::ptrdiff_t>(end);
                         if (std::find(from, to, untouched) != to) return false;
                         if (fast) std::fill(from, to, read);
                         return true;
                       });
      if (!written)
        fail(link, fmt::format("it reads from the buffer '{}' what is not written yet",
                               workload_.buffers[buffer].name));
      check_rows(index, i);
    }
  }

  void check_rows(std::size_t index, std::size_t source) {
    if (!found_.empty()) return;
    const Link& link = workload_.links[index];
    const Joint& joint = link.sources[source];
    const std::string wrong =
        rows_.wrong_row(index, joint, tile_of(joint, states_[index].sources[source]));
    if (wrong.empty()) return;
    fail(link, fmt::format("it reads from the buffer '{}' {}",
                           workload_.buffers[static_cast<std::size_t>(joint.buffer)].name, wrong));
  }

  void check_sink(std::size_t index) {
    const Link& link = workload_.links[index];
    const auto buffer = static_cast<std::size_t>(link.sink.buffer);
    const bool sums = states_[index].sink.iteration > 0;
    auto& marks = marks_[buffer];
    const bool right =
        for_each_row(link.sink, tile_of(link.sink, states_[index].sink),
                     [&](std::size_t begin, std::size_t end) {
                       const auto from = marks.begin() + static_cast<std::ptrdiff_t>(begin);
                       const auto to = marks.begin() + static_cast<std::ptrdiff_t>(end);
                       if (!sums && std::find(from, to, fresh) != to) return false;
                       std::fill(from, to, fresh);
                       return true;
                     });
    if (right && found_.empty()) write_rows(index);
    if (!right)
      fail(link, fmt::format("it overwrites in the buffer '{}' what nothing has read yet",
                             workload_.buffers[buffer].name));
  }

  void write_rows(std::size_t index) {
    const Link& link = workload_.links[index];
    const Tile source =
        link.sources.empty() ? Tile{} : tile_of(link.sources[0], states_[index].sources[0]);
    rows_.write(index, source, tile_of(link.sink, states_[index].sink));
  }

  void move_on(std::size_t index) {
    const Link& link = workload_.links[index];
    for (std::size_t i = 0; i < link.sources.size(); ++i)
      update(link.sources[i], states_[index].sources[i]);
    update(link.sink, states_[index].sink);
  }

  bool is_sink(std::size_t buffer) const { return is_sink_[buffer]; }

  /// Each output whole, nothing left in a fast memory.
  void check_ends() {
    for (std::size_t i = 0; i < workload_.buffers.size(); ++i) {
      const Region& buffer = workload_.buffers[i];
      const bool fast = buffer.memory != 0;
      const auto wrong = std::count(marks_[i].begin(), marks_[i].end(), fast ? fresh : untouched);
      if (wrong == 0 || (!fast && !is_sink(i))) continue;
      found_.push_back(fast ? fmt::format("{} bytes of the buffer '{}' are written and never read",
                                          wrong, buffer.name)
                            : fmt::format("{} of {} bytes of the output '{}' are never written",
                                          wrong, buffer.size(), buffer.name));
    }
  }

  const Workload& workload_;
  std::vector<bool> is_sink_;                     // by buffer
  std::vector<std::vector<std::uint8_t>> marks_;  // by buffer
  std::vector<PlayState> states_;                 // by link
  RowsBetween rows_;
  std::vector<Touch> touches_;  // of this step
  std::int64_t step_ = 0;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> play_violations(const Workload& workload) { return Play(workload).run(); }

}  // namespace millrace::workload
