#include "provider.h"

#include <map>
#include <string>
#include <vector>

#include "failure.h"

namespace millrace_onnxruntime {
namespace {

using Options = std::map<std::string, std::string>;

/// The two arrays of texts that the library takes; borrows the options.
struct OptionTexts {
  explicit OptionTexts(const Options& options) {
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
  }
  std::vector<const char*> keys, values;
};

/// What the user did not say, and what is kept for the next run.
Options completed(const Provider& provider, int threads) {
  Options options = provider.settings.options;
  const std::string& name = provider.settings.provider;
  const std::string folder = (provider.compiled / name).string();
  const bool keeps = !provider.compiled.empty();
  if (name == "xnnpack") options.try_emplace("intra_op_num_threads", std::to_string(threads));
  if (name == "openvino") options.try_emplace("num_of_threads", std::to_string(threads));
  if (name == "openvino" && keeps) options.try_emplace("cache_dir", folder);
  if (name == "tensorrt" && keeps && options.try_emplace("trt_engine_cache_enable", "1").second)
    options.try_emplace("trt_engine_cache_path", folder);
  return options;
}

void append_cuda(const Api& api, const Options& options, OrtSessionOptions& session) {
  const auto cuda = made(api, api.release_cuda_options, api.create_cuda_options);
  const OptionTexts texts(options);
  check(api, api.update_cuda_options(cuda.get(), texts.keys.data(), texts.values.data(),
                                     texts.keys.size()));
  check(api, api.append_cuda(&session, cuda.get()));
}

void append_tensorrt(const Api& api, const Options& options, OrtSessionOptions& session) {
  const auto tensorrt = made(api, api.release_tensorrt_options, api.create_tensorrt_options);
  const OptionTexts texts(options);
  check(api, api.update_tensorrt_options(tensorrt.get(), texts.keys.data(), texts.values.data(),
                                         texts.keys.size()));
  check(api, api.append_tensorrt(&session, tensorrt.get()));
}

/// As the library calls those that it adds by name.
const char* name_for_library(const std::string& provider) {
  if (provider == "xnnpack") return "XNNPACK";
  if (provider == "openvino") return "OpenVINO";
  return provider == "qnn" ? "QNN" : "TIDL";
}

}  // namespace

void append(const Provider& provider, int threads, OrtSessionOptions& session) {
  const Api& api = provider.library->api;
  const std::string& name = provider.settings.provider;
  if (name == "cpu") return;
  const Options options = completed(provider, threads);
  if (name == "cuda") return append_cuda(api, options, session);
  if (name == "tensorrt") return append_tensorrt(api, options, session);
  const OptionTexts texts(options);
  const char* const* const keys = texts.keys.data();
  const char* const* const values = texts.values.data();
  if (provider.device != nullptr)
    check(api, api.append_provider_for(&session, provider.library->environment.get(),
                                       &provider.device, 1, keys, values, texts.keys.size()));
  else
    check(api,
          api.append_provider(&session, name_for_library(name), keys, values, texts.keys.size()));
}

std::string obstacle_to_append(const Provider& provider) {
  const Api& api = provider.library->api;
  try {
    const auto options = made(api, api.release_session_options, api.create_session_options);
    append(provider, 1, *options);
    return {};
  } catch (const LibraryFailure& failure) {
    return failure.what();
  }
}

}  // namespace millrace_onnxruntime
