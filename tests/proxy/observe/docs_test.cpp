// docs/observability.md names every metric and every key of the access log.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "proxy/observe/access_line.hpp"
#include "proxy/observe/metrics.hpp"
#include "tests/proxy/observe/exposition_parser.hpp"

namespace brink::observe {
namespace {

std::string documentation() {
  std::ifstream file(BRINK_SOURCE_DIR "/docs/observability.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Documentation, NamesEveryMetric) {
  const std::string text = documentation();
  const testing::Exposition exposition(Metrics().text({}));
  for (const auto& [name, type] : exposition.types()) {
    EXPECT_NE(text.find("`" + name + "`"), std::string::npos) << name;
  }
}

TEST(Documentation, NamesEveryKeyOfTheAccessLog) {
  const std::string text = documentation();
  const http::Exchange exchange;
  std::string scratch, line(access_line_bound(exchange), '\0');
  char* end = write_access_line(line.data(), exchange, "2026-12-01T13:00:00.123Z", router::Time{}, scratch);
  line.resize(static_cast<std::size_t>(end - line.data()));
  const auto parsed = nlohmann::json::parse(line);
  for (const auto& item : parsed.items()) {
    EXPECT_NE(text.find("`" + item.key() + "`"), std::string::npos) << item.key();
  }
}

}  // namespace
}  // namespace brink::observe
