#include "proxy/model/llama/log.hpp"

#include <llama.h>

#include <cstdio>
#include <mutex>
#include <string_view>
#include <utility>

#include "proxy/model/process.hpp"

namespace brink::model {

namespace {

constexpr std::size_t max_kept = 600;

struct Log {
  std::mutex mutex;
  std::string errors, warnings;
  ggml_log_level last = GGML_LOG_LEVEL_NONE;  // a message may come in parts
  bool verbose = false;
};

Log& log() {
  static Log instance;
  return instance;
}

// As one line of printable text, appended with a separator: the file's own bytes may stand in a message.
void append(std::string& to, std::string_view text) {
  if (!to.empty() && to.back() != ' ') to += "; ";
  for (const char c : text) {
    if (to.size() >= max_kept) return;
    if (c == '\n') continue;
    to += (c >= ' ' && c < 0x7f) ? c : '?';
  }
}

void on_log(ggml_log_level level, const char* text, void*) {
  Log& state = log();
  const std::scoped_lock lock(state.mutex);
  if (state.verbose) std::fputs(text, stderr);
  if (level == GGML_LOG_LEVEL_CONT) level = state.last;
  state.last = level;
  if (level == GGML_LOG_LEVEL_WARN) append(state.warnings, text);
  if (level != GGML_LOG_LEVEL_ERROR) return;
  append(state.errors, text);
  LoadGuard::note(state.errors.c_str());
}

// Called with the text of a failed assertion, before abort(). While loading, the guard's line has it.
void on_abort(const char* message) {
  on_log(GGML_LOG_LEVEL_ERROR, message, nullptr);
  if (!LoadGuard::active()) std::fprintf(stderr, "brink-model: %s\n", message);
}

}  // namespace

void catch_log(bool verbose) {
  log().verbose = verbose;
  llama_log_set(on_log, nullptr);
  ggml_log_set(on_log, nullptr);
  ggml_set_abort_callback(on_abort);
}

std::string take_errors() {
  Log& state = log();
  const std::scoped_lock lock(state.mutex);
  std::string out = std::exchange(state.errors, {});
  const std::string warnings = std::exchange(state.warnings, {});
  return out.empty() ? warnings : out;
}

}  // namespace brink::model
