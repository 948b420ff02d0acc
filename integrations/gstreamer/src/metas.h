#pragma once
// Findings beside the pixels of a buffer.
#include <gst/gst.h>

#include <string>
#include <vector>

#include <millrace/findings.h>

namespace millrace_gst {

/// The custom meta with a field "json", which programs read without a header of ours.
inline constexpr const char* findings_meta = "MillraceFindingsMeta";

/// Once for the process, before any buffer gets one.
void register_metas();

/// `buffer` is writable. Boxes are also GstVideoRegionOfInterestMeta, and from GStreamer 1.24 on
/// detections of a GstAnalyticsRelationMeta.
void add_metas(GstBuffer* buffer, const millrace::Findings& findings, const std::string& json,
               const std::vector<std::string>& labels);

}  // namespace millrace_gst
