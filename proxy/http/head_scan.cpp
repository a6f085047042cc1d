#include "proxy/http/head_scan.hpp"

namespace brink::http::detail {

HeadLines scan_lines(std::string_view bytes, std::size_t max_fields) {
  HeadLines lines;
  std::size_t fields = 0;
  for (std::size_t begin = 0;;) {
    const auto lf = bytes.find('\n', begin);
    if (lf == bytes.npos) return lines;

    // Also catches an LF at the start of a line, whose left neighbour is the LF of the line before.
    if (lf == 0 || bytes[lf - 1] != '\r') {
      lines.error = HeadError::malformed;
      lines.what = "a line ends in LF without CR";
      return lines;
    }
    if (lines.start_line == 0) {
      lines.start_line = lf + 1;
    } else if (lf == begin + 1) {
      lines.size = lf + 1;
      return lines;
    } else if (bytes[begin] == ' ' || bytes[begin] == '\t') {
      lines.error = HeadError::malformed;
      lines.what = "a header line starts with white space (folded lines are not accepted)";
      return lines;
    } else if (++fields > max_fields) {
      lines.error = HeadError::too_many_fields;
      lines.what = "more header fields than the limit";
      return lines;
    }
    begin = lf + 1;
  }
}

}  // namespace brink::http::detail
