# Writes OUTPUT, a C++ source with the texts of the page that FOLDER holds.
set(entries "")
foreach(name page.html report.css charts.js report.js)
  file(READ ${FOLDER}/${name} text)
  string(REPLACE "." "_" word ${name})
  string(APPEND entries "const char* const ${word} = R\"page(${text})page\";\n\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"present/html/texts.h\"\n
namespace millrace::present {\n
${entries}}  // namespace millrace::present\n")
