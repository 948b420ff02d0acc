# Writes OUTPUT, a C++ source with the names and the texts of the files HEADERS and SOURCES.
function(texts_of result)
  set(entries "")
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME)
    if(NOT name MATCHES "[.]cu$")  # as it is included
      set(name "engine/cuda/kernels/${name}")
    endif()
    file(READ ${file} text)
    string(APPEND entries "    {\"${name}\", R\"kernel(${text})kernel\"},\n")
  endforeach()
  set(${result} "${entries}" PARENT_SCOPE)
endfunction()
texts_of(headers ${HEADERS})
texts_of(sources ${SOURCES})
file(WRITE ${OUTPUT} "#include \"engine/cuda/kernels/texts.h\"\n
#include <array>\n
namespace millrace::engine::cuda {\n
std::span<const SourceText> kernel_texts() {\n  static const auto texts = std::to_array<SourceText>({\n${sources}  });\n  return texts;\n}\n
std::span<const SourceText> kernel_headers() {\n  static const auto texts = std::to_array<SourceText>({\n${headers}  });\n  return texts;\n}\n
}  // namespace millrace::engine::cuda\n")
