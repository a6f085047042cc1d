// The command line. docs/configuration.md describes it; the exit status is 0 fine, 1 failed while running, 2 bad usage
// or configuration.
#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "conf/load.hpp"
#include "proxy/explain.hpp"
#include "proxy/server.hpp"
#include "proxy/version.hpp"

namespace {

// The configuration, or nothing after its problems were printed.
std::shared_ptr<const brink::conf::Config> load(const std::vector<std::string>& files) {
  brink::conf::LoadResult loaded = brink::conf::load(files);
  for (const auto& problem : loaded.problems) std::cerr << brink::conf::to_string(problem) << "\n";
  if (!loaded.config) {
    std::cerr << "brink: " << loaded.problems.size() << (loaded.problems.size() == 1 ? " problem\n" : " problems\n");
  }
  return loaded.config;
}

int check(const std::vector<std::string>& files) {
  const auto config = load(files);
  if (!config) return 2;
  std::size_t endpoints = 0;
  for (const auto& cluster : config->clusters) endpoints += cluster.endpoints.size();
  std::cout << "fine: " << config->listeners.size() << " listeners, " << config->routes.size() << " routes, "
            << config->clusters.size() << " clusters, " << endpoints << " endpoints\n";
  return 0;
}

int explain(const std::vector<std::string>& files, brink::ExplainRequest request, const std::string& body_file) {
  const auto config = load(files);
  if (!config) return 2;
  if (!body_file.empty()) {
    std::ifstream stream(body_file, std::ios::binary);
    if (!stream) {
      std::cerr << "brink explain: cannot read " << body_file << "\n";
      return 2;
    }
    request.body.assign(std::istreambuf_iterator<char>(stream), {});
  }
  return brink::explain(*config, request);
}

int dispatch(int argc, char** argv) {
  CLI::App app("Brink: the edge tier in front of GPU backends", "brink");
  app.require_subcommand(0, 1);
  std::vector<std::string> files;
  brink::ExplainRequest request;
  std::string body_file;
  const auto add_files = [&](CLI::App* command) {
    command->add_option("-c,--config", files, "a configuration file; may be given more than once")
        ->required()
        ->allow_extra_args(false);
  };
  CLI::App* run_command = app.add_subcommand("run", "start the proxy");
  add_files(run_command);
  CLI::App* check_command = app.add_subcommand("check", "validate the configuration and name every problem");
  add_files(check_command);
  CLI::App* explain_command = app.add_subcommand("explain", "say which route takes a request, and why");
  add_files(explain_command);
  explain_command->add_option("method", request.method, "the method, as in GET")->required();
  explain_command->add_option("url", request.url, "the URL, or a path alone")->required();
  explain_command->add_option("-H,--header", request.headers, "a header, 'Name: value'; may be given more than once")
      ->allow_extra_args(false);
  explain_command->add_option("--body", body_file, "a file with the request body");
  CLI::App* version_command = app.add_subcommand("version", "print the version");
  CLI::App* schema_command = app.add_subcommand("schema", "print the JSON Schema of a configuration file");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (*run_command) return brink::Server(files).run();
  if (*check_command) return check(files);
  if (*explain_command) return explain(files, std::move(request), body_file);
  if (*version_command) {
    std::cout << "brink " << brink::version << "\n";
  } else if (*schema_command) {
    std::cout << brink::conf::json_schema();
  } else {
    std::cout << app.help();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return dispatch(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "brink: " << error.what() << "\n";
    return 1;
  }
}
