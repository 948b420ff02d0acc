# Writes OUTPUT, a C++ source with the name and the text of each of the board files FILES.
set(entries "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"board(${text})board\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"board/shipped_texts.h\"\n
namespace millrace::board {\n
std::vector<ShippedText> shipped_texts() {\n  return {\n${entries}  };\n}\n
}  // namespace millrace::board\n")
