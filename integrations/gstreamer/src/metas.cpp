#include "metas.h"

#include <gst/video/video.h>

#include <algorithm>
#include <cmath>

#include "analysis.h"

#ifdef MILLRACE_HAS_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace millrace_gst {
namespace {

guint whole(double value) { return static_cast<guint>(std::lround(std::max(0.0, value))); }

void add_region(GstBuffer* buffer, const millrace::Detection& detection, const std::string& name) {
  GstVideoRegionOfInterestMeta* const meta = gst_buffer_add_video_region_of_interest_meta(
      buffer, name.c_str(), whole(detection.left), whole(detection.top), whole(detection.width),
      whole(detection.height));
  gst_video_region_of_interest_meta_add_param(
      meta, gst_structure_new("detection", "label_id", G_TYPE_INT,
                              static_cast<gint>(detection.label), "confidence", G_TYPE_DOUBLE,
                              detection.probability, "left", G_TYPE_DOUBLE, detection.left, "top",
                              G_TYPE_DOUBLE, detection.top, "width", G_TYPE_DOUBLE,
                              detection.width, "height", G_TYPE_DOUBLE, detection.height,
                              nullptr));
}

#ifdef MILLRACE_HAS_ANALYTICS
void add_relations(GstBuffer* buffer, const std::vector<millrace::Detection>& detections,
                   const std::vector<std::string>& labels) {
  GstAnalyticsRelationMeta* const meta = gst_buffer_add_analytics_relation_meta(buffer);
  for (const millrace::Detection& each : detections) {
    GstAnalyticsODMtd ignored;
    gst_analytics_relation_meta_add_od_mtd(
        meta, g_quark_from_string(name_of(each.label, labels).c_str()),
        static_cast<gint>(std::lround(each.left)), static_cast<gint>(std::lround(each.top)),
        static_cast<gint>(std::lround(each.width)), static_cast<gint>(std::lround(each.height)),
        static_cast<gfloat>(each.probability), &ignored);
  }
}
#endif

}  // namespace

void register_metas() {
  static const gchar* tags[] = {nullptr};
  gst_meta_register_custom(findings_meta, tags, nullptr, nullptr, nullptr);
}

void add_metas(GstBuffer* buffer, const millrace::Findings& findings, const std::string& json,
               const std::vector<std::string>& labels) {
  if (GstCustomMeta* const meta = gst_buffer_add_custom_meta(buffer, findings_meta))
    gst_structure_set(gst_custom_meta_get_structure(meta), "json", G_TYPE_STRING, json.c_str(),
                      nullptr);
  if (!findings.detections) return;
  for (const millrace::Detection& each : *findings.detections)
    add_region(buffer, each, name_of(each.label, labels));
#ifdef MILLRACE_HAS_ANALYTICS
  add_relations(buffer, *findings.detections, labels);
#endif
}

}  // namespace millrace_gst
