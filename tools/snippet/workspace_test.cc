#include "workspace.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "diagnostic.h"
#include "file.h"
#include "scratch.h"

namespace fs = std::filesystem;
using snippet::Workspace;

namespace {

// A repository of two regions and the documents that a test writes.
class Tree {
 public:
  Tree() {
    write("src/a.cu",
          "// snippet: x\na\n// end snippet\n// snippet: lonely\nb\n// end snippet\n");
  }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((scratch_ / file).parent_path());
    common::write_atomically(scratch_ / file, text);
  }
  std::string read(const std::string& file) const {
    return common::read_file(scratch_ / file);
  }
  fs::path path(const std::string& file = "") const { return scratch_ / file; }

  // What a command prints; "errors:" and what it throws if it does.
  template <typename Command>
  std::string run(const Command& command) const {
    Workspace workspace(scratch_.path(), {}, "");
    std::ostringstream out;
    try {
      command(workspace, out);
    } catch (const common::DiagnosticError& error) {
      CHECK(out.str() == "");
      return std::string("errors:\n") + error.what();
    }
    return out.str();
  }
  std::string list(const std::vector<std::string>& files = {}) const {
    return run([&](Workspace& w, std::ostream& out) { w.list(files, out); });
  }
  std::string show(const std::string& address) const {
    return run([&](Workspace& w, std::ostream& out) { w.show(address, out); });
  }
  std::string check(const std::vector<std::string>& files = {}) const {
    return run([&](Workspace& w, std::ostream& out) {
      out << (w.check(files, out) ? "" : "(stale)\n");
    });
  }
  std::string sync(const std::vector<std::string>& files = {},
                   const fs::path& output = {}) const {
    return run([&](Workspace& w, std::ostream& out) { w.sync(files, output, out); });
  }

 private:
  common::Scratch scratch_;
};

const std::string kStale = "<!-- pull: src/a.cu#x -->\nold\n<!-- end pull -->\n";
const std::string kFresh =
    "<!-- pull: src/a.cu#x -->\n```cuda\na\n```\n<!-- end pull -->\n";

}  // namespace

TEST_CASE("the root is where .git is") {
  const common::Scratch scratch;
  fs::create_directories(scratch / "repo/.git");
  fs::create_directories(scratch / "repo/a/b");
  CHECK(snippet::find_root(scratch / "repo/a/b") == scratch / "repo");
}

TEST_CASE("documents are all Markdown, and the programs in snippets/") {
  const Tree tree;
  for (const char* file :
       {"README.md", "lessons/a.md", "snippets/a.cu", "src/b.cu", "build/x.md",
        "node_modules/x.md", ".x/x.md", "lessons/a.txt", "transcripts/p/x.md"}) {
    tree.write(file, "");
  }
  CHECK(Workspace(tree.path(), {}, "").documents() ==
        std::vector<std::string>{"README.md", "lessons/a.md", "snippets/a.cu"});
}

TEST_CASE(
    "list names regions, the places that pull them, and those that nothing pulls") {
  const Tree tree;
  tree.write("lessons/a.md", kFresh + kStale);
  tree.write("snippets/p.cu", "// pull: src/a.cu#x\n// end pull\n");
  tree.write("other.py", "# snippet: y\n# end snippet\n");
  CHECK(tree.list() ==
        "src/a.cu:2-2: x: 3 places\nsrc/a.cu:5-5: lonely: nothing pulls it\n");
  CHECK(tree.list({"other.py"}) == "other.py:2-1: y: nothing pulls it\n");
}

TEST_CASE("show prints one region") {
  const Tree tree;
  CHECK(tree.show("src/a.cu#x") == "a\n");
  CHECK(tree.show("src/a.cu#y") ==
        "errors:\ncommand line:1: no region 'y' in src/a.cu; did you mean 'x'?\n"
        "  // pull: src/a.cu#y\n"
        "                    ^\n");
  CHECK(tree.show("src/b.cu#x") ==
        "errors:\ncommand line:1: cannot read src/b.cu: No such file or directory; did "
        "you mean 'src/a.cu'?\n"
        "  // pull: src/b.cu#x\n"
        "           ^\n");
}

TEST_CASE("check shows what is stale as a diff, and is quiet about the rest") {
  const Tree tree;
  tree.write("lessons/a.md", "1\n" + kStale);
  tree.write("lessons/b.md", kFresh);
  CHECK(tree.check() ==
        "lessons/a.md:2: stale: src/a.cu#x\n"
        "--- lessons/a.md (pulled)\n"
        "+++ lessons/a.md (source)\n"
        "@@ -1,4 +1,6 @@\n"
        " 1\n"
        " <!-- pull: src/a.cu#x -->\n"
        "-old\n"
        "+```cuda\n"
        "+a\n"
        "+```\n"
        " <!-- end pull -->\n"
        "1 of 2 places stale; 'snippet sync' brings them up to date\n"
        "(stale)\n");
  CHECK(tree.check({"lessons/b.md"}) == "1 place, all fresh\n");
}

TEST_CASE("sync brings stale places up to date and names them") {
  const Tree tree;
  tree.write("lessons/a.md", "1\n" + kStale + "2\n" + kFresh);
  CHECK(tree.sync() == "lessons/a.md:2: updated: src/a.cu#x\n");
  CHECK(tree.read("lessons/a.md") == "1\n" + kFresh + "2\n" + kFresh);
  CHECK(tree.sync() == "everything is fresh\n");
}

TEST_CASE("a document with nothing stale is not rewritten") {
  const Tree tree;
  tree.write("lessons/a.md", kFresh);
  tree.write("lessons/b.md", "no directives\n");
  const auto a = fs::last_write_time(tree.path("lessons/a.md"));
  const auto b = fs::last_write_time(tree.path("lessons/b.md"));
  // A read-only folder's file could not even be replaced by an equal one.
  fs::permissions(tree.path("lessons/a.md"), fs::perms::owner_read);
  CHECK(tree.sync() == "everything is fresh\n");
  CHECK(fs::last_write_time(tree.path("lessons/a.md")) == a);
  CHECK(fs::last_write_time(tree.path("lessons/b.md")) == b);
}

TEST_CASE("mode bits and symbolic links survive") {
  const Tree tree;
  tree.write("lessons/a.md", kStale);
  fs::permissions(tree.path("lessons/a.md"), fs::perms::owner_all);
  fs::create_symlink("lessons/a.md", tree.path("README.md"));
  CHECK(tree.sync() == "README.md:1: updated: src/a.cu#x\n");
  CHECK(fs::is_symlink(tree.path("README.md")));
  CHECK(tree.read("lessons/a.md") == kFresh);
  CHECK(fs::status(tree.path("lessons/a.md")).permissions() == fs::perms::owner_all);
}

TEST_CASE("a stale read-only document is an error, and nothing is written") {
  const Tree tree;
  tree.write("lessons/a.md", kStale);
  tree.write("lessons/b.md", kStale);
  tree.write("lessons/c.md", kStale);
  fs::permissions(tree.path("lessons/b.md"), fs::perms::owner_read);
  CHECK(tree.sync() ==
        "errors:\nlessons/b.md:1: stale, and the file is read-only; make it writable "
        "first\n"
        "  <!-- pull: src/a.cu#x -->\n"
        "             ^\n");
  for (const char* file : {"lessons/a.md", "lessons/b.md", "lessons/c.md"}) {
    CHECK(tree.read(file) == kStale);
  }
  CHECK(std::distance(fs::directory_iterator(tree.path("lessons")), {}) == 3);
}

TEST_CASE("on any error nothing is written, and all errors of the run are reported") {
  const Tree tree;
  tree.write("lessons/a.md", kStale);
  tree.write("lessons/b.md", "<!-- pull: src/a.cu#z -->\n<!-- end pull -->\n");
  tree.write("lessons/c.md", "<!-- pull: src/none.cu#x -->\n");
  tree.write("src/bad.cu", "// end snippet\n");
  tree.write("lessons/d.md", "<!-- pull: src/bad.cu#x -->\n<!-- end pull -->\n");
  const std::string expected =
      "errors:\n"
      "lessons/b.md:1: no region 'z' in src/a.cu; did you mean 'x'?\n"
      "  <!-- pull: src/a.cu#z -->\n"
      "                      ^\n"
      "lessons/c.md:1: this pull is never ended; add the 'end pull' line\n"
      "  <!-- pull: src/none.cu#x -->\n"
      "             ^\n"
      "src/bad.cu:1: this closes nothing: no region is open here\n"
      "  // end snippet\n"
      "     ^\n";
  CHECK(tree.sync() == expected);
  CHECK(tree.check() == expected);
  CHECK(tree.read("lessons/a.md") == kStale);
}

TEST_CASE("a missing document is an error") {
  const Tree tree;
  CHECK(tree.sync({"lessons/no.md"}) ==
        "errors:\nlessons/no.md: cannot read lessons/no.md: No such file or "
        "directory\n");
}

TEST_CASE("with an output folder, documents are written there and stay as they are") {
  const Tree tree;
  tree.write("lessons/a.md", kStale);
  tree.write("lessons/b.md", "no directives\n");
  CHECK(tree.sync({}, tree.path("build")) ==
        "lessons/a.md: written\nlessons/b.md: written\n");
  CHECK(tree.read("build/lessons/a.md") == kFresh);
  CHECK(tree.read("build/lessons/b.md") == "no directives\n");
  CHECK(tree.read("lessons/a.md") == kStale);
  CHECK(tree.sync({}, tree.path("build")) == "everything is fresh\n");
}
