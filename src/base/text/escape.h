#pragma once
// Text that others wrote, as it stands in what we write: one function for each language. Whatever
// the text holds, it stays text there. JSON is in json_text.h.
#include <string>
#include <string_view>

namespace millrace {

/// With the quotes around it, in C and C++: the same bytes.
std::string cpp_string(std::string_view text);
/// On a line of a comment in C and C++: printable, and it neither ends the comment nor joins the
/// next line to it.
std::string cpp_comment(std::string_view text);

/// With the quotes around it, as one item of a list in CMake, such as the name of a file.
std::string cmake_item(std::string_view text);

/// With the quotes around it, in dot; a line's end begins a new line there.
std::string dot_string(std::string_view text);

/// In a text or between the quotes of an attribute of XML, SVG and HTML. What no XML file may hold
/// stands there as printable() writes it.
std::string xml_text(std::string_view text);

/// The same JSON document, written for a <script> element of HTML: nothing in it ends the
/// element, begins a comment or ends a line of JavaScript.
std::string json_in_html(std::string_view json);

/// In a sentence or in a table of Markdown.
std::string markdown_text(std::string_view text);

/// With the quotes around it, one word of a POSIX shell. See shell_word.h for files.
std::string shell_string(std::string_view text);
/// The same of the shell fish.
std::string fish_string(std::string_view text);

/// In a manual page: no character is a command of troff.
std::string troff_text(std::string_view text);

}  // namespace millrace
