#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>

#include <string>

#include "arrays.h"
#include "millrace/millrace.h"
#include "module.h"
#include "settings.h"
#include "work.h"

namespace millrace::python {
namespace {

using namespace nb::literals;

nb::list tensors_of(const std::vector<TensorInfo>& tensors) {
  return rows_of(tensors, [](const TensorInfo& tensor) {
    return nb::make_tuple(tensor.name, name_of(tensor.type), nb::tuple(nb::cast(tensor.shape)));
  });
}

Precision precision_named(const std::string& name) {
  if (name == "f32") return Precision::f32;
  if (name == "f16") return Precision::f16;
  if (name == "bf16") return Precision::bf16;
  if (name == "int8") return Precision::int8;
  throw Error(ErrorKind::input, "precision: found '" + name + "', expected f32, f16, bf16 or int8",
              {"precision", "found '" + name + "'", "f32, f16, bf16 or int8"});
}

std::vector<Precision> precisions_of(const std::vector<std::string>& names) {
  std::vector<Precision> result;
  for (const std::string& name : names) result.push_back(precision_named(name));
  return result;
}

std::vector<Frame> frames_of(nb::handle given, const Model& model) {
  std::vector<Frame> frames;
  const std::vector<TensorInfo> inputs = model.inputs();
  if (!given.is_none())
    for (const nb::handle frame : given) frames.push_back(frame_of(frame, inputs));
  return frames;
}

ModelOptions options_of(nb::dict given) {
  const Settings settings(given);
  ModelOptions options;
  settings.take("shapes", options.shapes);
  settings.take("weights", options.weights);
  settings.take("size", options.size);
  for (const auto& [name, array] : nb::cast<nb::dict>(given["constants"]))
    options.constants[nb::cast<std::string>(name)] = tensor_of(array);
  return options;
}

Model model_from_file(const std::string& path, nb::dict given) {
  const ModelOptions options = options_of(given);
  const nb::gil_scoped_release released;
  return Model::from_file(path, options);
}

Model model_from_memory(nb::bytes bytes, const std::string& name, nb::dict given) {
  const ModelOptions options = options_of(given);
  ModelMemory memory;
  memory.model = {bytes.c_str(), bytes.size()};
  memory.name = name;
  return Model::from_memory(memory, options);
}

nb::list layers_of(const Model& model) {
  return rows_of(model.layers(), [](const LayerInfo& layer) {
    return nb::make_tuple(layer.name, layer.operation, layer.macs, layer.parameters,
                          layer.output_bytes);
  });
}

nb::list stages_of(const Plan& plan) {
  return rows_of(plan.stages(), [](const StageInfo& stage) {
    nb::list layers;
    for (const PhaseInfo& phase : stage.phases)
      for (const std::string& layer : phase.layers) layers.append(layer);
    return nb::make_tuple(stage.name, stage.engine, nb::tuple(nb::cast(stage.processors)),
                          nb::tuple(layers), seconds_or_none(stage.predicted),
                          seconds_or_none(stage.measured));
  });
}

nb::list candidates_of(const Plan& plan) {
  return rows_of(plan.candidates(), [](const Candidate& each) {
    return nb::make_tuple(each.name, seconds_of(each.predicted_period),
                          seconds_or_none(each.measured_period), each.stages, each.chosen);
  });
}

PlanRequest plan_request(const Model& model, nb::dict given) {
  const Settings settings(given);
  PlanRequest request;
  std::vector<std::string> precisions;
  settings.take("processors", request.processors);
  settings.take("engine", request.engine);
  settings.take("precision", precisions);
  request.precisions = precisions_of(precisions);
  settings.take("max_error", request.max_error);
  settings.take("board", request.board);
  settings.take("limits", request.limits);
  settings.take("search", request.search);
  settings.take("seed", request.seed);
  settings.take("measure", request.measuring);
  settings.take("max_latency", request.max_latency);
  settings.take("max_batch", request.max_batch);
  settings.take("max_memory", request.max_memory_bytes);
  settings.take("streams", request.streams);
  settings.take("max_loss", request.max_loss);
  settings.take("calibration", request.calibration);
  settings.take("cache", request.options.cache);
  if (given.contains("samples")) request.samples = frames_of(given["samples"], model);
  return request;
}

Plan plan_of(const Model& model, nb::dict given, nb::handle listener) {
  PlanRequest request = plan_request(model, given);
  return worked(listener, request, [&] { return plan(model, request); });
}

Calibration calibrated(const Model& model, nb::handle frames, nb::handle listener) {
  CalibrationRequest request;
  request.frames = frames_of(frames, model);
  return worked(listener, request, [&] { return calibrate(model, request); });
}

nb::dict bench_of(const Plan& plan, nb::dict given, nb::handle listener) {
  const Settings settings(given);
  BenchRequest request;
  settings.take("seconds", request.duration);
  settings.take("rounds", request.rounds);
  settings.take("in_flight", request.in_flight);
  settings.take("baselines", request.baselines);
  settings.take("beside", request.beside);
  settings.take("cache", request.options.cache);
  const BenchReport report = worked(listener, request, [&] { return bench(plan, request); });
  nb::list rows;
  for (std::size_t r = 0; r < report.rows.size(); ++r) {
    const BenchRow& row = report.rows[r];
    rows.append(nb::make_tuple(row.name, row.fps, seconds_of(row.p50), seconds_of(row.p90),
                               seconds_of(row.p99), seconds_of(row.largest), report.speedups[r]));
  }
  nb::dict result;
  result["rows"] = rows;
  result["stages"] = rows_of(report.stages, [](const BenchStage& stage) {
    return nb::make_tuple(stage.name, seconds_of(stage.alone), seconds_of(stage.busy),
                          stage.busy_share);
  });
  result["bottleneck"] = report.bottleneck;
  result["share_of_stages"] = report.share_of_stages;
  result["in_flight"] = report.in_flight;
  return result;
}

const char* name_of(Agreement agreement) {
  constexpr const char* names[] = {"bit equal", "within tolerance", "within rounding",
                                   "part by part", "differs"};
  return names[static_cast<std::size_t>(agreement)];
}

nb::dict verification_of(const Plan& plan, nb::dict given, nb::handle listener) {
  const Settings settings(given);
  VerifyRequest request;
  settings.take("random_mappings", request.random_mappings);
  settings.take("against", request.against);
  settings.take("tolerance", request.tolerance);
  settings.take("seed", request.seed);
  settings.take("cache", request.options.cache);
  if (given.contains("frames")) request.frames = frames_of(given["frames"], plan.model());
  const Verification found = worked(listener, request, [&] { return verify(plan, request); });
  nb::dict result;
  result["plans"] = rows_of(found.plans, [](const VerifiedPlan& each) {
    return nb::make_tuple(each.name, each.frames, each.error, name_of(each.agreement),
                          nb::tuple(nb::cast(each.amplifiers)));
  });
  result["first_difference"] = found.first_difference;
  return result;
}

nb::list frames_read(const Model& model, const std::vector<std::string>& inputs) {
  std::vector<Frame> frames;
  {
    const nb::gil_scoped_release released;
    FrameFiles files;
    files.inputs = inputs;
    frames = read_frames(model, files);
  }
  nb::list result;
  for (Frame& frame : frames) {
    nb::list arrays;
    for (Tensor& tensor : frame) arrays.append(array_of(std::move(tensor)));
    result.append(arrays);
  }
  return result;
}

void write_report(const Plan& plan, const std::string& path) {
  const nb::gil_scoped_release released;
  plan.report(path);
}

Plan plan_from_file(const std::string& path, const Model* model) {
  const nb::gil_scoped_release released;
  return model == nullptr ? Plan::from_file(path) : Plan::from_file(path, *model);
}

}  // namespace

void add_models(nb::module_& module) {
  nb::class_<Calibration>(module, "Calibration", "Ranges of a model's tensors, which int8 needs.")
      .def_static("from_file", &Calibration::from_file, "path"_a, "model"_a)
      .def("save", &Calibration::write, "path"_a);
  nb::class_<Model>(module, "Model")
      .def_static("from_file", &model_from_file, "path"_a, "settings"_a)
      .def_static("from_memory", &model_from_memory, "data"_a, "name"_a, "settings"_a)
      .def_prop_ro("name", &Model::name)
      .def_prop_ro("inputs", [](const Model& model) { return tensors_of(model.inputs()); })
      .def_prop_ro("outputs", [](const Model& model) { return tensors_of(model.outputs()); })
      .def_prop_ro("layers", &layers_of)
      .def_prop_ro("metadata", &Model::metadata)
      .def_prop_ro("hash", &Model::hash);
  nb::class_<Plan>(module, "Plan")
      .def_static("from_file", &plan_from_file, "path"_a, "model"_a.none())
      .def("save", &Plan::write, "path"_a)
      .def("report", &write_report, "path"_a)
      .def_prop_ro("model", &Plan::model)
      .def_prop_ro("stages", &stages_of)
      .def_prop_ro("candidates", &candidates_of)
      .def_prop_ro("predicted_period",
                   [](const Plan& plan) { return seconds_or_none(plan.predicted_period()); })
      .def_prop_ro("measured_period",
                   [](const Plan& plan) { return seconds_or_none(plan.measured_period()); });
  module.def("plan", &plan_of, "model"_a, "settings"_a, "listener"_a.none());
  module.def("calibrate", &calibrated, "model"_a, "frames"_a, "listener"_a.none());
  module.def("bench", &bench_of, "plan"_a, "settings"_a, "listener"_a.none());
  module.def("verify", &verification_of, "plan"_a, "settings"_a, "listener"_a.none());
  module.def("read_frames", &frames_read, "model"_a, "inputs"_a);
  module.def(
      "address_seen",
      [](nb::handle array) { return reinterpret_cast<std::uintptr_t>(tensor_of(array).data()); },
      "array"_a, "Where a session reads the array; its own address if it is not copied.");
  module.def("search_names", &search_names);
}

}  // namespace millrace::python
