#include "formats/darknet/lower.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/file.h"

namespace millrace::formats::darknet {
namespace {

/// `options`: every name that may stand there, be it for training only; empty: any.
struct Entry {
  std::string_view kind;
  TensorId (*lower)(Reading&);
  std::string_view options;
};

constexpr std::string_view conv_words =
    "activation angle antialiasing assisted_excitation batch_normalize bin_output binary "
    "burnin_update coordconv deform dilation dont_update dontload dontloadscales filters "
    "flipped grad_centr groups keep_delta_gpu learning_rate onlyforward pad padding reverse rotate "
    "share_index size stopbackward stretch stretch_sway stride stride_x stride_y sway "
    "train_only_bn use_bin_output xnor";
constexpr std::string_view any = "";

constexpr std::array table{
    Entry{"avg", lower_avgpool, any},
    Entry{"avgpool", lower_avgpool, any},
    Entry{"batchnorm", lower_batchnorm, any},
    Entry{"conn", lower_connected, "activation batch_normalize output dontload dontloadscales"},
    Entry{"connected", lower_connected,
          "activation batch_normalize output dontload dontloadscales"},
    Entry{"conv", lower_convolutional, conv_words},
    Entry{"convolutional", lower_convolutional, conv_words},
    Entry{"cost", lower_nothing, any},
    Entry{"detection", lower_detection, any},
    Entry{"dropout", lower_nothing, any},
    Entry{"max", lower_maxpool,
          "antialiasing maxpool_depth out_channels padding size stride stride_x "
          "stride_y"},
    Entry{"maxpool", lower_maxpool,
          "antialiasing maxpool_depth out_channels padding size stride "
          "stride_x stride_y"},
    Entry{"region", lower_region, any},
    Entry{"reorg", lower_reorg, "reverse stride flatten extra"},
    Entry{"route", lower_route, "group_id groups layers stopbackward stream wait_stream"},
    Entry{"sam", lower_sam, "activation from"},
    Entry{"scale_channels", lower_scale_channels, "activation from scale_wh"},
    Entry{"shortcut", lower_shortcut,
          "activation assisted_excitation from weights_normalization "
          "weights_type"},
    Entry{"soft", lower_softmax, any},
    Entry{"softmax", lower_softmax, any},
    Entry{"upsample", lower_upsample, "scale stride"},
    Entry{"yolo", lower_yolo, any},
};

[[noreturn]] void refuse(const Section& section) {
  std::array<std::string_view, table.size()> kinds;
  std::ranges::transform(table, kinds.begin(), &Entry::kind);
  section.fail(fmt::format("is not a kind of section that can be read{}; there are {}",
                           did_you_mean(section.kind(), kinds), fmt::join(kinds, ", ")));
}

}  // namespace

void lower_sections(Reading& reading) {
  while (reading.count() + 1 < reading.sections().size()) {
    const Section& section = reading.section();
    const auto entry = std::ranges::find(table, section.kind(), &Entry::kind);
    if (entry == table.end()) refuse(section);
    if (!entry->options.empty()) section.only(entry->options);
    reading.finish_section(entry->lower(reading));
  }
}

TensorId lower_nothing(Reading& reading) { return reading.before(); }

}  // namespace millrace::formats::darknet
