#include "conf/load.hpp"

#include <exception>

#include "conf/checks.hpp"
#include "conf/files.hpp"
#include "conf/reader.hpp"

namespace brink::conf {
namespace {

void load_into(LoadResult& result, std::span<const std::string> files) {
  Problems problems;
  Reader reader(problems);
  Document document;
  FileLoader loader(reader, problems, document);
  for (const std::string& file : files) loader.load(file);
  const nlohmann::ordered_json shown = reader.finish(document);
  check_tree(document, reader.notes(), files.front(), loader.complete(), problems);
  if (problems.empty()) {
    // A scalar may hold bytes that are no UTF-8; showing them must not fail.
    document.effective_json = shown.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    result.config = std::make_shared<const Config>(std::move(static_cast<Config&>(document)));
  } else {
    result.problems = problems.take();
  }
}

}  // namespace

LoadResult load(std::span<const std::string> files) {
  LoadResult result;
  if (files.empty()) {
    result.problems.push_back({{}, "no configuration file; name one with -c FILE"});
    return result;
  }
  try {
    load_into(result, files);
  } catch (const std::exception& e) {
    result.config.reset();
    result.problems.push_back({{files.front(), 0, 0}, "the configuration cannot be read: " + std::string(e.what())});
  }
  return result;
}

}  // namespace brink::conf
