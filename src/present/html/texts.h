#pragma once
// The files beside this one that the page is made of.

namespace millrace::present {

extern const char* const page_html;  // with {{names}} in the places of the others and of the data
extern const char* const report_css;
extern const char* const charts_js;
extern const char* const report_js;

}  // namespace millrace::present
