// Puts the values of `${env:NAME}` and `${file:/path}` into a text, so that secrets need not stand in the files. `$${`
// is a plain `${`. The values go into the configuration only: no message and no display ever holds one.
// Control thread only (reads the environment and files).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace brink::conf {

// Reads a regular file of at most `max_bytes` into `out`. Returns what went wrong, empty when nothing.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes, std::string& out);

// Does `raw` hold a placeholder or an escaped one?
bool has_placeholder(std::string_view raw);

// Replaces each placeholder of `raw` into `out`. A relative path is taken from `directory`; the last line end of a file
// is dropped; a file holds at most 64 KiB. Returns what went wrong, empty when nothing.
std::string expand(std::string_view raw, const std::filesystem::path& directory, std::string& out);

// `raw` with `***` for the password of a URL (`scheme://user:password@host`), unless only placeholders stand there,
// which say nothing.
std::string hide_password(std::string_view raw);

}  // namespace brink::conf
