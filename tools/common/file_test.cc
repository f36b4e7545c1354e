#include "file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <system_error>

#include "scratch.h"

namespace fs = std::filesystem;
using common::read_file;
using common::write_atomically;

TEST_CASE("what is written is read back, byte for byte") {
  const common::Scratch scratch;
  const std::string bytes("a\0\r\n\xFF", 5);
  write_atomically(scratch / "f", bytes);
  CHECK(read_file(scratch / "f") == bytes);
  write_atomically(scratch / "f", "");
  CHECK(read_file(scratch / "f").empty());
}

TEST_CASE("an existing file keeps its mode, a symbolic link stays a link") {
  const common::Scratch scratch;
  write_atomically(scratch / "f", "old");
  fs::permissions(scratch / "f", fs::perms::owner_all);
  fs::create_symlink("f", scratch / "link");
  write_atomically(scratch / "link", "new");
  CHECK(fs::is_symlink(scratch / "link"));
  CHECK(read_file(scratch / "f") == "new");
  CHECK(fs::status(scratch / "f").permissions() == fs::perms::owner_all);
}

TEST_CASE("a failed write leaves the old file and no temporary one") {
  const common::Scratch scratch;
  fs::create_directory(scratch / "d");
  write_atomically(scratch / "d" / "keep", "x");
  CHECK_THROWS_AS(write_atomically(scratch / "d", "y"), std::system_error);
  CHECK(std::distance(fs::directory_iterator(scratch.path()), {}) == 1);
}

TEST_CASE("a replacement changes nothing until it is committed") {
  const common::Scratch scratch;
  write_atomically(scratch / "f", "old");
  { const common::Replacement dropped(scratch / "f", "new"); }
  CHECK(read_file(scratch / "f") == "old");
  CHECK(std::distance(fs::directory_iterator(scratch.path()), {}) == 1);
  common::Replacement kept(scratch / "f", "new");
  CHECK(read_file(scratch / "f") == "old");
  kept.commit();
  CHECK(read_file(scratch / "f") == "new");
  CHECK(std::distance(fs::directory_iterator(scratch.path()), {}) == 1);
}

TEST_CASE("a missing file is named") {
  const common::Scratch scratch;
  const std::string expected =
      (scratch / "none").string() + ": cannot open: No such file or directory";
  CHECK_THROWS_WITH_AS(read_file(scratch / "none"), expected.c_str(),
                       std::system_error);
}
