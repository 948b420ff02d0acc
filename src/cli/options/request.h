#pragma once
// What several verbs ask alike.
#include <string>

#include "application/frames/frames.h"
#include "cli/options/places.h"
#include "product/application/load.h"
#include "product/application/samples.h"
#include "product/loaded.h"
#include "product/setup.h"

namespace millrace::cli {

/// --shape and --fix.
void bind_known_inputs(Places& at, formats::ModelSource& source);
/// The same, --size and --weights. Notes of the work are heard.
void bind_input(Places& at, product::Setup& setup);
/// The model, with bind_input().
void bind_model(Places& at, product::Setup& setup);
void bind_engine_libraries(Places& at, product::Context& context);
/// --processors, --engine, those of engines, --seed, --no-cache.
void bind_processors(Places& at, product::Setup& setup);
void bind_variants(Places& at, product::VariantOptions& options);  // --precision, --max-error
void bind_frames(Places& at, application::FrameOptions& options);
/// For verbs that learn from frames: images of another size than the input's are an error unless
/// --resize is given.
void bind_samples(Places& at, application::FrameOptions& frames,
                  product::ApplicationFrameOptions& application);
/// `files`: which of ours the verb takes, as a sentence begins: "A plan file (.json)".
void bind_runnable(Places& at, product::RunnableOptions& options, const std::string& files);
void bind_application(Places& at, product::ApplicationOptions& options);
void bind_trace(Places& at, product::TraceOptions& options);

/// InputError if the file that is written would go where the JSON goes.
void refuse_two_results(bool json, const std::string& output);

}  // namespace millrace::cli
