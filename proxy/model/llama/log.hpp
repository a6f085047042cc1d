// What llama.cpp and ggml log, gathered: errors and warnings are kept until somebody asks, the rest is dropped or, when
// wished, printed. One for the process, since their logger is; any thread.
#pragma once

#include <string>

namespace brink::model {

void catch_log(bool verbose);
// The errors logged since the last call, as one line; the warnings if there were none.
std::string take_errors();

}  // namespace brink::model
