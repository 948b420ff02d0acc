// What GStreamer loads.
#include "element.h"

static gboolean init(GstPlugin* plugin) {
  return gst_element_register(plugin, "millrace", GST_RANK_NONE, GST_TYPE_MILLRACE);
}

#define PACKAGE "millrace"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, millrace,
                  "Neural networks on all processors at once", init, MILLRACE_VERSION, "Apache 2.0",
                  "Millrace", "https://millrace.org")
