#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/file.h"
#include "workload/check/effort.h"
#include "workload/program_file.h"
#include "workload/words.h"

namespace millrace::workload {
namespace {

constexpr std::array<std::string_view, 5> program_keys{"format", "kind", "network", "memories",
                                                       "workloads"};
constexpr std::array<std::string_view, 4> network_keys{"name", "hash", "inputs", "outputs"};
constexpr std::array<std::string_view, 2> memory_keys{"name", "size_bytes"};
constexpr std::array<std::string_view, 6> workload_keys{"name",   "layer",   "overlapped",
                                                        "remark", "buffers", "links"};
constexpr std::array<std::string_view, 7> buffer_keys{"name",      "memory", "offset",  "rows",
                                                      "row_bytes", "tensor", "constant"};
constexpr std::array<std::string_view, 13> link_keys{
    "name",   "kind",    "unit", "delay",      "period", "operation", "macs",
    "window", "sources", "sink", "activation", "layer",  "scaling"};
constexpr std::array<std::string_view, 4> scaling_keys{"input", "weights", "output", "by_channel"};
constexpr std::array<std::string_view, 3> steps_keys{"type", "zero", "scale"};
constexpr std::array<std::string_view, 2> type_words{"uint8", "int8"};
constexpr std::array<std::string_view, 3> activation_keys{"slope", "low", "high"};
constexpr std::array<std::string_view, 9> joint_keys{
    "buffer", "element_bytes", "start", "period", "frequency", "repeat", "walk", "tile", "ring"};
constexpr std::array<std::string_view, 3> step_keys{"count", "first", "next"};
constexpr std::array<std::string_view, 6> side_keys{"count",     "pipe_up", "pipeline",
                                                    "pipe_down", "stride",  "along"};
constexpr std::array<std::string_view, 3> ring_keys{"count", "stride", "every"};
constexpr std::array<std::string_view, 7> window_keys{
    "kernel", "strides", "dilations", "pads", "pads_end", "channels", "count_padding"};

constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
constexpr std::int64_t most_buffer = std::int64_t{1} << 34;
constexpr std::int64_t most_runs = std::int64_t{1} << 31;
constexpr std::size_t most_layers = 1'000'000;

struct Range {
  std::int64_t least = 0, most = most_bytes;
};
constexpr Range runs{1, most_runs};
constexpr Range way{-most_bytes, most_bytes};

std::int64_t integer_in(const JsonView& json, Range range = {}) {
  const std::int64_t value = json.integer();
  if (value < range.least || value > range.most)
    json.fail(fmt::format("found {}, expected {} to {}", value, range.least, range.most));
  return value;
}

template <std::size_t count>
std::size_t word_at(const JsonView& json, const std::array<std::string_view, count>& words) {
  const auto found = std::ranges::find(words, json.text());
  if (found == words.end())
    json.fail(fmt::format("found '{}', expected {}", json.text(), fmt::join(words, ", ")));
  return static_cast<std::size_t>(found - words.begin());
}

/// The position of what has this name.
template <class Items>
std::int32_t with_name(const Items& items, const JsonView& json, std::string_view what) {
  const std::string name = json.text();
  const auto found = std::ranges::find_if(items, [&](const auto& one) { return one.name == name; });
  if (found != items.end()) return static_cast<std::int32_t>(found - items.begin());
  std::vector<std::string_view> known;
  for (const auto& item : items) known.push_back(item.name);
  json.fail(fmt::format("there is no {} '{}'{}", what, name, did_you_mean(name, known)));
}

/// At most so many.
std::vector<JsonView> items_of(const JsonView& json, std::size_t most) {
  std::vector<JsonView> items = json.items();
  if (items.size() > most)
    json.fail(fmt::format("found {} entries, expected at most {}", items.size(), most));
  return items;
}

Step step_of(const JsonView& json) {
  json.only(step_keys);
  const Step step{integer_in(json.at("count"), runs), integer_in(json.at("first"), way),
                  integer_in(json.at("next"), way)};
  if (std::abs(step.next) > most_bytes / step.count)
    json.fail(fmt::format("its tiles lie over {} bytes apart", most_bytes));
  return step;
}

void check_extent(const JsonView& json, const Side& side) {
  const std::int64_t most = std::max({side.pipe_up, side.pipeline, side.pipe_down});
  if (side.stride > most_bytes / most)
    json.fail(fmt::format("its elements lie over {} bytes apart", most_bytes));
}

Side side_of(const JsonView& json, std::size_t walk_size) {
  json.only(side_keys);
  Side side;
  side.stride = integer_in(json.at("stride"));
  if (json.has("count")) {
    side.pipe_up = side.pipeline = side.pipe_down = integer_in(json.at("count"), runs);
  } else {
    side.pipe_up = integer_in(json.at("pipe_up"), runs);
    side.pipeline = integer_in(json.at("pipeline"), runs);
    side.pipe_down = integer_in(json.at("pipe_down"), runs);
    side.along = static_cast<std::int32_t>(json.at("along").index(walk_size));
  }
  check_extent(json, side);
  return side;
}

void check_frequency(const JsonView& json, const Joint& joint) {
  std::int64_t tiles = 1;
  for (std::size_t i = 0; i < joint.walk_size; ++i) {
    tiles *= joint.walk[i].count;
    if (tiles > most_runs) json.fail(fmt::format("its walk has over {} tiles", most_runs));
  }
  if (const std::int64_t found = integer_in(json.at("frequency")); found != tiles)
    json.at("frequency")
        .fail(fmt::format("found {}, expected {}: the product of the counts of its walk", found,
                          tiles));
  if (joint.period > most_runs / tiles || joint.repeat > most_runs / tiles / joint.period)
    json.fail(fmt::format("it has over {} runs", most_runs));
}

Joint joint_of(const JsonView& json, const std::vector<Region>& buffers) {
  json.only(joint_keys);
  Joint joint;
  joint.buffer = with_name(buffers, json.at("buffer"), "buffer");
  joint.element = static_cast<std::int32_t>(integer_in(json.at("element_bytes"), {1, 8}));
  joint.start = integer_in(json.at("start"));
  joint.period = integer_in(json.at("period"), runs);
  joint.repeat = integer_in(json.at("repeat"), runs);
  for (const JsonView& step : items_of(json.at("walk"), max_walk))
    joint.walk[joint.walk_size++] = step_of(step);
  for (const JsonView& side : items_of(json.at("tile"), max_sides))
    joint.sides[joint.side_count++] = side_of(side, joint.walk_size);
  if (json.has("ring")) {
    json.at("ring").only(ring_keys);
    joint.ring = {integer_in(json.at("ring").at("count"), {1, 16}),
                  integer_in(json.at("ring").at("stride"))};
    if (json.at("ring").has("every"))
      joint.ring.every = integer_in(json.at("ring").at("every"), runs);
  }
  check_frequency(json, joint);
  return joint;
}

std::array<std::int64_t, 2> pair_of(const JsonView& json, std::int64_t least) {
  const std::vector<JsonView> items = json.items();
  if (items.size() != 2)
    json.fail(fmt::format("found {} numbers, expected 2: of rows and columns", items.size()));
  const Range range{least, most_runs};
  return {integer_in(items[0], range), integer_in(items[1], range)};
}

TileWindow window_of(const JsonView& json) {
  json.only(window_keys);
  return {pair_of(json.at("kernel"), 1),        pair_of(json.at("strides"), 1),
          pair_of(json.at("dilations"), 1),     pair_of(json.at("pads"), 0),
          json.at("count_padding").boolean(),   pair_of(json.at("pads_end"), 0),
          integer_in(json.at("channels"), runs)};
}

TileActivation activation_of(const JsonView& json) {
  json.only(activation_keys);
  TileActivation activation;
  activation.slope = json.at("slope").number();
  if (json.has("low")) activation.low = json.at("low").number();
  if (json.has("high")) activation.high = json.at("high").number();
  return activation;
}

TileSteps steps_of(const JsonView& json) {
  json.only(steps_keys);
  TileSteps steps;
  steps.is_signed = word_at(json.at("type"), type_words) == 1;
  const Range range = steps.is_signed ? Range{-128, 127} : Range{0, 255};
  steps.zero = static_cast<std::int32_t>(integer_in(json.at("zero"), range));
  steps.scale = static_cast<float>(json.at("scale").number());
  return steps;
}

TileScaling scaling_of(const JsonView& json) {
  json.only(scaling_keys);
  return {steps_of(json.at("input")), steps_of(json.at("weights")), steps_of(json.at("output")),
          json.at("by_channel").boolean()};
}

void read_operation(const JsonView& json, Link& link) {
  link.operation = static_cast<TileOperation>(word_at(json.at("operation"), operation_words));
  link.macs = integer_in(json.at("macs"), {0, std::int64_t{1} << 50});
  if (link.operation == TileOperation::copy)
    json.at("operation").fail("a processing link computes; a link that copies is a transfer");
  if (json.has("layer")) link.layer = json.at("layer").index(most_layers);
  if (slides(link.operation)) link.window = window_of(json.at("window"));
  if (json.has("scaling")) link.scaling = scaling_of(json.at("scaling"));
  if (!json.has("activation")) return;
  if (!multiplies(link.operation)) json.at("activation").fail("only convolutions have one");
  link.activation = activation_of(json.at("activation"));
}

Link link_of(const JsonView& json, const std::vector<Region>& buffers) {
  json.only(link_keys);
  Link link;
  link.name = json.at("name").text();
  link.kind = static_cast<LinkKind>(word_at(json.at("kind"), kind_words));
  link.unit = json.at("unit").text();
  link.delay = integer_in(json.at("delay"), {0, most_runs});
  link.period = integer_in(json.at("period"), runs);
  if (link.kind == LinkKind::processing) read_operation(json, link);
  for (const JsonView& source : items_of(json.at("sources"), max_sources))
    link.sources.push_back(joint_of(source, buffers));
  link.sink = joint_of(json.at("sink"), buffers);
  return link;
}

Region region_of(const JsonView& json, const Program& program) {
  json.only(buffer_keys);
  Region region;
  region.name = json.at("name").text();
  region.memory = with_name(program.memories, json.at("memory"), "memory");
  region.offset = integer_in(json.at("offset"));
  region.rows = integer_in(json.at("rows"), {1, std::int64_t{1} << 20});
  region.row_bytes = integer_in(json.at("row_bytes"), {0, std::int64_t{1} << 40});
  if (region.size() > most_buffer)
    json.fail(
        fmt::format("found a buffer of {} bytes, expected at most {}", region.size(), most_buffer));
  if (json.has("tensor")) region.tensor = json.at("tensor").index(most_layers);
  if (json.has("constant")) region.constant = json.at("constant").boolean();
  return region;
}

Workload workload_of(const JsonView& json, const Program& program) {
  json.only(workload_keys);
  Workload workload;
  workload.name = json.at("name").text();
  workload.layer = json.at("layer").index(most_layers);
  workload.overlapped = json.at("overlapped").boolean();
  if (json.has("remark")) workload.remark = json.at("remark").text();
  for (const JsonView& buffer : json.at("buffers").items())
    workload.buffers.push_back(region_of(buffer, program));
  for (const JsonView& link : json.at("links").items())
    workload.links.push_back(link_of(link, workload.buffers));
  if (workload.links.empty()) json.at("links").fail("found none, expected at least one link");
  return workload;
}

/// Nothing if it says neither inputs nor outputs.
std::optional<ProgramEnds> ends_of(const JsonView& json) {
  if (!json.has("inputs") && !json.has("outputs")) return std::nullopt;
  ProgramEnds ends;
  for (const JsonView& tensor : json.at("inputs").items())
    ends.inputs.push_back(tensor.index(most_layers));
  for (const JsonView& tensor : json.at("outputs").items())
    ends.outputs.push_back(tensor.index(most_layers));
  return ends;
}

/// A simulation goes through all steps, and a check too.
void check_turns(const JsonView& json, const Program& program) {
  double turns = 0;
  for (const Workload& workload : program.workloads) turns += effort_of(workload).turns;
  if (turns > most_turns)
    json.at("workloads")
        .fail(
            fmt::format("their steps times their links are {:.0f} in all, expected at most {:.0f}",
                        turns, most_turns));
}

}  // namespace

Program program_of(const JsonView& json) {
  json.only(program_keys);
  if (const std::int64_t format = json.at("format").integer(); format != 1)
    json.at("format").fail(fmt::format("found {}, expected 1", format));
  if (json.at("kind").text() != "workload")
    json.at("kind").fail(fmt::format("found '{}', expected 'workload'", json.at("kind").text()));
  json.at("network").only(network_keys);
  Program program;
  program.network = json.at("network").at("name").text();
  program.network_hash = json.at("network").at("hash").text();
  program.ends = ends_of(json.at("network"));
  for (const JsonView& memory : json.at("memories").items()) {
    memory.only(memory_keys);
    program.memories.push_back(
        {memory.at("name").text(), Bytes{integer_in(memory.at("size_bytes"))}});
  }
  for (const JsonView& workload : json.at("workloads").items())
    program.workloads.push_back(workload_of(workload, program));
  check_turns(json, program);
  return program;
}

Program read_program(const std::filesystem::path& path) {
  const nlohmann::json document = read_json(path);
  return program_of(JsonView(document, path.string()));
}

}  // namespace millrace::workload
