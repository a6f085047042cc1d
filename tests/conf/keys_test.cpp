// The key table against everything that repeats it: brink.yaml, the committed JSON Schema, the reference documentation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "conf/schema.hpp"
#include "tests/conf/files.hpp"

namespace brink::conf {
namespace {

const std::string source = BRINK_SOURCE_DIR;

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

using Visit = std::function<void(const std::string& path, const Key& key)>;

void each_key(const Block& block, const std::string& prefix, const Visit& visit) {
  for (const Key& key : block.keys) {
    if (key.kind == Kind::later) continue;
    const std::string path = prefix + std::string(key.name);
    visit(path, key);
    if (key.block != nullptr) each_key(*key.block, path + ".", visit);
  }
}

// "[a, b]".
std::string list_text(const YAML::Node& list) {
  std::string text;
  for (const auto& item : list)
    text += (text.empty() ? "" : ", ") + (item.IsScalar() ? item.Scalar() : std::string("..."));
  return "[" + text + "]";
}

// brink.yaml shows keys that exclude each other as comments, which hold keys as they would be written.
std::string with_commented_keys(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line); out += line + "\n") {
    const std::size_t mark = line.find_first_not_of(' ');
    if (mark == std::string::npos || line.compare(mark, 2, "# ") != 0) continue;
    const std::size_t name = line.find_first_not_of(' ', mark + 1);
    const std::size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", name);
    if (name != std::string::npos && end != std::string::npos && end > name && line[end] == ':') line.erase(mark, 2);
  }
  return out;
}

// Every key of the tree with the texts of its values: "routes.timeouts.idle" → {"30s"}. The names of clusters are left
// out, they are no keys of the table.
void collect(const YAML::Node& node, const std::string& path, std::map<std::string, std::set<std::string>>& out) {
  out[path];
  if (node.IsScalar()) out[path].insert(node.Scalar());
  if (node.IsSequence()) out[path].insert(list_text(node));
  if (node.IsMap() && node.size() == 0) out[path].insert("{}");
  for (const auto& item : node) {
    if (node.IsSequence()) {
      collect(item, path, out);
    } else if (node.IsMap() && path == "clusters") {
      for (const auto& setting : item.second) collect(setting.second, "clusters." + setting.first.Scalar(), out);
    } else if (node.IsMap()) {
      collect(item.second, (path.empty() ? "" : path + ".") + item.first.Scalar(), out);
    }
  }
}

TEST(Keys, BrinkYamlShowsEveryKeyAndItsDefault) {
  std::map<std::string, std::set<std::string>> written;
  collect(YAML::Load(with_commented_keys(read(source + "/conf/brink.yaml"))), "", written);
  each_key(root_block(), "", [&](const std::string& path, const Key& key) {
    ASSERT_TRUE(written.count(path)) << path << " is missing in conf/brink.yaml";
    if (key.fallback == nullptr || key.kind == Kind::block) return;
    EXPECT_TRUE(written[path].count(key.fallback)) << path << " is not shown with its default " << key.fallback;
  });
}

TEST(Keys, BrinkYamlLoadsAndItsDefaultsAreThoseOfAMinimalFile) {
  const std::vector<std::string> files{source + "/conf/brink.yaml"};
  const LoadResult full = load(files);
  ASSERT_TRUE(full.config) << to_string(full.problems.front());
  const LoadResult least = load_text(minimal);
  ASSERT_TRUE(least.config);
  auto shown = [](const LoadResult& result) { return nlohmann::json::parse(result.config->effective_json); };
  auto left = shown(full), right = shown(least);
  for (const char* key : {"admin", "downstream", "cache", "access_log"}) EXPECT_EQ(left[key], right[key]) << key;
  left["node"].erase("id");
  right["node"].erase("id");
  EXPECT_EQ(left["node"], right["node"]);
  for (const char* key : {"timeouts", "rewrite", "retry", "keep_alive_comments", "limits", "decompress_requests"})
    EXPECT_EQ(left["routes"][0][key], right["routes"][0][key]);
  for (const char* key : {"balance", "outlier", "panic_threshold", "queue", "limits", "keep_alive"}) {
    EXPECT_EQ(left["clusters"]["chat"][key], right["clusters"]["chat"][key]) << key;
  }
}

TEST(Keys, TheExamplesLoad) {
  Files files;
  const std::string head = "listeners: [{address: 127.0.0.1:0}]\ninclude: ['" + source + "/conf/routes.d/*.yaml']\n";
  files.write("brink.yaml", head);
  const LoadResult routes = files.load("brink.yaml");
  ASSERT_TRUE(routes.config) << to_string(routes.problems.front());
  EXPECT_GE(routes.config->routes.size(), 5u);

  const std::vector<std::string> quickstart{source + "/conf/quickstart.yaml"};
  const LoadResult result = load(quickstart);
  ASSERT_TRUE(result.config) << to_string(result.problems.front());
  EXPECT_EQ(result.config->clusters.at(0).endpoints.size(), 3u);
}

TEST(Keys, TheCommittedSchemaIsThatOfTheTable) {
  const std::string path = source + "/conf/brink.schema.json";
  if (std::getenv("BRINK_UPDATE") != nullptr) std::ofstream(path, std::ios::binary) << json_schema();
  EXPECT_EQ(read(path), json_schema()) << "run the test with BRINK_UPDATE=1 to write it anew";
}

TEST(Keys, TheSchemaKnowsEveryKeyAndNoOther) {
  const auto schema = nlohmann::json::parse(json_schema());
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["properties"]["local_model"]["oneOf"].size(), 2u);
  const auto& route = schema["properties"]["routes"]["items"];
  const auto& compress = route["properties"]["compress"]["properties"];
  EXPECT_EQ(compress["encodings"]["default"], nlohmann::json({"zstd", "gzip"}));
  EXPECT_EQ(compress["encodings"]["items"]["enum"], nlohmann::json({"zstd", "gzip"}));
  EXPECT_EQ(route["properties"]["cache"]["properties"]["mode"]["enum"],
            nlohmann::json({"off", "http", "exact", false}));
  EXPECT_EQ(route["properties"]["decompress_requests"]["default"], false);
  EXPECT_EQ(route["oneOf"].size(), 3u);
  const auto& retry = route["properties"]["retry"]["anyOf"][1]["properties"];
  EXPECT_EQ(retry["on"]["items"]["enum"], nlohmann::json({"connect", "reset", "timeout", "429", "500", "502", "503",
                                                          "504", 429, 500, 502, 503, 504}));
  EXPECT_EQ(retry["budget"]["default"], "20%");
  EXPECT_EQ(route["properties"]["timeouts"]["properties"]["total"]["default"], "10m");
  EXPECT_EQ(schema["properties"]["node"]["properties"]["workers"]["default"], "auto");
}

TEST(Keys, TheReferenceDescribesEveryKeyWithItsDefault) {
  const std::string text = read(source + "/docs/configuration.md");
  each_key(root_block(), "", [&](const std::string& path, const Key& key) {
    const std::size_t row = text.find("| `" + path + "` |");
    ASSERT_NE(row, std::string::npos) << "docs/configuration.md has no table row for `" << path << "`";
    const std::string line = text.substr(row, text.find('\n', row) - row);
    if (key.fallback == nullptr || key.kind == Kind::block) return;
    const std::string shown = *key.fallback == 0 ? "\"\"" : key.fallback;
    EXPECT_NE(line.find("| `" + shown + "` |"), std::string::npos)
        << path << " must show its default `" << shown << "`";
  });
}

TEST(Keys, EveryDocIsAShortLine) {
  each_key(root_block(), "", [](const std::string& path, const Key& key) {
    EXPECT_GE(key.doc.size(), 5u) << path;
    EXPECT_LE(key.doc.size(), 100u) << path;
  });
}

}  // namespace
}  // namespace brink::conf
