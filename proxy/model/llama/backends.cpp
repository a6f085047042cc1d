#include "proxy/model/llama/backends.hpp"

#include <dlfcn.h>
#include <llama.h>

#include <filesystem>

#include "proxy/model/engine.hpp"
#include "proxy/model/llama/log.hpp"

namespace brink::model {

namespace {

std::string folder_of_llama() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&llama_backend_init), &info) == 0 || !info.dli_fname) return {};
  std::error_code error;
  const auto path = std::filesystem::canonical(info.dli_fname, error);
  return error ? std::string() : path.parent_path().string();
}

}  // namespace

void load_backends(const std::string& folder) {
  llama_backend_init();
  // A llama.cpp that was built with its CPU backend inside has it already.
  const auto has_cpu = [] { return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) != nullptr; };
  const std::string where = folder.empty() ? folder_of_llama() : folder;
  if (!has_cpu() && !where.empty()) ggml_backend_load_all_from_path(where.c_str());
  if (!has_cpu() && folder.empty()) ggml_backend_load_all();
  if (!has_cpu()) throw EngineError("no ggml backend for this CPU in " + where + " " + take_errors());
}

}  // namespace brink::model
