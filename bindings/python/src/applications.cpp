#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>

#include "arrays.h"
#include "millrace/millrace.h"
#include "module.h"
#include "pictures.h"
#include "settings.h"
#include "work.h"

namespace millrace::python {

using namespace nb::literals;

Image image_of(nb::handle array, const std::string& colours) {
  const Tensor pixels = tensor_of(array);
  const Shape& shape = pixels.shape();
  const bool is_grey = shape.size() == 2 || (shape.size() == 3 && shape[2] == 1);
  const bool fits = is_grey || (shape.size() == 3 && shape[2] == 3);
  if (pixels.type() != DataType::uint8 || !fits || shape[0] > 1 << 20 || shape[1] > 1 << 20)
    throw Error(ErrorKind::input,
                "picture: found " + text_of(pixels.type(), shape) +
                    ", expected uint8 of the shape HEIGHTxWIDTHx3 or HEIGHTxWIDTH",
                {"picture", "found " + text_of(pixels.type(), shape), "uint8 HEIGHTxWIDTHx3"});
  const PixelFormat format = is_grey            ? PixelFormat::grey
                             : colours == "bgr" ? PixelFormat::bgr
                                                : PixelFormat::rgb;
  const auto height = static_cast<int>(shape[0]), width = static_cast<int>(shape[1]);
  return Image::copy_of({width, height, pixels.data(), format, 0});
}

nb::object pixels_of(Image image) {
  if (image.rgb() == nullptr) return nb::none();
  auto* const kept = new Image(std::move(image));
  const nb::capsule owner(kept,
                          [](void* pointer) noexcept { delete static_cast<Image*>(pointer); });
  const std::size_t shape[] = {static_cast<std::size_t>(kept->height()),
                               static_cast<std::size_t>(kept->width()), 3};
  return nb::cast(nb::ndarray<nb::numpy, nb::ro, const std::uint8_t>(kept->rgb(), 3, shape, owner));
}

namespace {

template <class T>
nb::object column(const std::vector<T>& values, Shape shape) {
  return array_of(Tensor::of(std::move(shape), values));
}

nb::object mask_of(const std::optional<Mask>& mask) {
  if (!mask) return nb::none();
  return nb::make_tuple(mask->left, mask->top, column(mask->inside, {mask->height, mask->width}));
}

nb::dict boxes_of(const std::vector<Detection>& detections) {
  std::vector<float> xyxy, scores;
  std::vector<std::int64_t> labels;
  nb::list corners, keypoints, masks;
  for (const Detection& each : detections) {
    for (const double side : {each.left, each.top, each.left + each.width, each.top + each.height})
      xyxy.push_back(static_cast<float>(side));
    scores.push_back(static_cast<float>(each.probability));
    labels.push_back(each.label);
    std::vector<float> of_corners, of_points;
    for (const Point& at : each.corners)
      of_corners.insert(of_corners.end(), {static_cast<float>(at.x), static_cast<float>(at.y)});
    for (const Keypoint& point : each.keypoints)
      of_points.insert(of_points.end(),
                       {static_cast<float>(point.at.x), static_cast<float>(point.at.y),
                        static_cast<float>(point.probability)});
    const auto corner_count = static_cast<std::int64_t>(each.corners.size());
    const auto point_count = static_cast<std::int64_t>(each.keypoints.size());
    corners.append(column(of_corners, {corner_count, 2}));
    keypoints.append(column(of_points, {point_count, 3}));
    masks.append(mask_of(each.mask));
  }
  const auto count = static_cast<std::int64_t>(detections.size());
  nb::dict result;
  result["xyxy"] = column(xyxy, {count, 4});
  result["score"] = column(scores, {count});
  result["label"] = column(labels, {count});
  result["corners"] = corners;
  result["keypoints"] = keypoints;
  result["masks"] = masks;
  return result;
}

/// What pictures and crops have: classes, embedding, text, json.
template <class Found>
nb::dict common_of(const Found& found) {
  nb::dict result;
  if (found.classes)
    result["classes"] = rows_of(*found.classes, [](const Ranked& each) {
      return nb::make_tuple(each.label, each.value);
    });
  if (found.embedding)
    result["embedding"] =
        column(*found.embedding, {static_cast<std::int64_t>(found.embedding->size())});
  if (found.text) result["text"] = nb::make_tuple(found.text->text, found.text->probability);
  if (!found.json.empty()) result["json"] = found.json;
  return result;
}

nb::dict crop_of(const CropFindings& crop) {
  nb::dict result = common_of(crop);
  result["box"] = crop.detection;
  result["xyxy"] =
      nb::make_tuple(crop.left, crop.top, crop.left + crop.width, crop.top + crop.height);
  return result;
}

}  // namespace

nb::dict dict_of(const Findings& findings) {
  nb::dict result = common_of(findings);
  if (findings.detections) result["boxes"] = boxes_of(*findings.detections);
  if (findings.map)
    result["map"] = column(findings.map->classes, {findings.map->height, findings.map->width});
  if (!findings.crops.empty()) result["crops"] = rows_of(findings.crops, &crop_of);
  return result;
}

namespace {

ApplicationSettings settings_of(nb::dict given) {
  ApplicationSettings settings;
  const Settings given_settings(std::move(given));
  const auto take = [&](const char* name, auto& to) { given_settings.take(name, to); };
  Preprocessing& before = settings.preprocessing;
  Postprocessing& after = settings.postprocessing;
  std::string colours;
  take("letterbox", before.letterbox);
  take("model_colours", colours);
  if (colours == "bgr") before.colours = PixelFormat::bgr;
  if (colours == "grey") before.colours = PixelFormat::grey;
  take("scale", before.scale);
  take("mean", before.mean);
  take("deviation", before.deviation);
  take("fill", before.fill);
  take("kind", after.kind);
  take("top", after.top);
  take("threshold", after.threshold);
  take("overlap", after.overlap);
  take("head", after.head);
  take("labels", settings.labels);
  return settings;
}

struct Labels {
  std::vector<std::string> own, of_crops;
};

/// An outcome, whose findings are also drawn from.
struct Seen {
  Outcome outcome;
  std::shared_ptr<const Labels> labels;  // of all outcomes of a session
};

/// Pictures through an application; one thread submits while another takes.
class Watching {
 public:
  Watching(const Application& application, const Plan& plan)
      : labels_(std::make_shared<const Labels>(
            Labels{application.labels(), application.labels_of_crops()})) {
    SessionOptions options;
    options.options.listener = std::make_shared<AsksForSignals>();
    const nb::gil_scoped_release released;
    session_.emplace(application.start(plan, options));
  }
  ~Watching() { close(); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

  void submit(const Image& image) {
    ApplicationSession session = alive();
    const nb::gil_scoped_release released;
    if (!session.submit(image))
      throw Error(ErrorKind::input, "the session has ended; start another one",
                  {"", "the session has ended", "start another one"});
  }
  std::optional<Seen> next() {
    ApplicationSession session = alive();
    const nb::gil_scoped_release released;
    auto outcome = session.next();
    if (!outcome) return std::nullopt;
    return Seen{std::move(*outcome), labels_};
  }
  void finish() { alive().finish(); }
  std::int64_t depth() { return alive().depth(); }
  void close() {
    end_or_leave(session_, process_, [](ApplicationSession&) {});
  }

 private:
  ApplicationSession alive() const {
    process_.check("session", "start one in the child");
    if (!session_)
      throw Error(ErrorKind::input, "the session is closed; start another one",
                  {"", "the session is closed", "start another one"});
    return *session_;
  }

  std::shared_ptr<const Labels> labels_;
  std::optional<ApplicationSession> session_;
  OwnProcess process_;
};

}  // namespace

void add_applications(nb::module_& module) {
  nb::class_<Image>(module, "Image", "A picture of a byte for each colour; it never changes.")
      .def_static("of", &image_of, "array"_a, "colours"_a)
      .def_static(
          "from_file",
          [](const std::string& path) {
            const nb::gil_scoped_release released;
            return Image::from_file(path);
          },
          "path"_a)
      .def_prop_ro("pixels", [](const Image& image) { return pixels_of(image); });
  nb::class_<Seen>(module, "Outcome")
      .def_prop_ro("frame", [](const Seen& seen) { return seen.outcome.frame; })
      .def_prop_ro("latency", [](const Seen& seen) { return seconds_of(seen.outcome.latency); })
      .def_prop_ro("pixels", [](const Seen& seen) { return pixels_of(seen.outcome.image); })
      .def_prop_ro("findings", [](const Seen& seen) { return dict_of(seen.outcome.findings); })
      .def("to_json",
           [](const Seen& seen) {
             return to_json(seen.outcome.findings, seen.labels->own, seen.labels->of_crops);
           })
      .def("drawn", [](const Seen& seen) {
        return pixels_of(draw(seen.outcome.image, seen.outcome.findings, seen.labels->own,
                              seen.labels->of_crops));
      });
  nb::class_<Application>(module, "Application")
      .def_static(
          "from_file", [](const std::string& path) { return Application::from_file(path); },
          "path"_a)
      .def_static(
          "of",
          [](const Model& model, nb::dict settings) {
            return Application::of(model, settings_of(settings));
          },
          "model"_a, "settings"_a)
      .def_prop_ro("model", &Application::model)
      .def_prop_ro("labels", &Application::labels)
      .def_prop_ro("labels_of_crops", &Application::labels_of_crops);
  nb::class_<Watching>(module, "ApplicationSession")
      .def(nb::init<const Application&, const Plan&>(), "application"_a, "plan"_a)
      .def("submit", &Watching::submit, "image"_a)
      .def("next", &Watching::next)
      .def("finish", &Watching::finish)
      .def("close", &Watching::close)
      .def_prop_ro("depth", &Watching::depth);
}

}  // namespace millrace::python
