// The command as people run it: exit statuses and reports.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "repository.h"

using namespace transcript;
using nlohmann::json;

namespace {

// For a shell: the folder may be called anything.
const std::string kQuotedExe = "\"" TRANSCRIPT_EXE "\"";
/// An output of a repository that has just been recorded.
struct Recorded : Repository {
  Recorded() { REQUIRE(record().status == 0); }
};

}  // namespace

TEST_CASE("a run that agrees is exit 0, a changed figure exit 1, with its name") {
  Recorded repository;
  CHECK(repository.verify().out ==
        "--- transcripts/p/cpu.md\n"
        "+++ program\n"
        "\n"
        "match: 3 judged, 2 reported (0 changed), 1 excused\n");
  CHECK(repository.verify().status == 0);
  repository.program(repository.print(replaced(kText, "0.300", "0.302")));
  const RunResult result = repository.verify();
  CHECK(result.status == 1);
  CHECK(result.out ==
        "--- transcripts/p/cpu.md\n"
        "+++ program\n"
        "\n"
        "case 2x2\n"
        "  int8 / max err  (line 10)\n"
        "    -0.300\n"
        "    +0.302\n"
        "    change +0.002 (+0.667 %); allowed: last place, 1e-03\n"
        "\n"
        "1 difference: 3 judged, 2 reported (0 changed), 1 excused\n");
  const json report = json::parse(repository.verify({"--format", "json"}).out);
  CHECK(report["exit_status"] == 1);
  CHECK(report["error"].is_null());
  CHECK(report["comparisons"][0]["differences"][0]["address"].get<std::string>() ==
        "case 2x2 / int8 / max err");
}

TEST_CASE("a machine is one of those recorded, or all are compared") {
  Recorded repository;
  repository.gpu("Tesla T4");
  repository.program(repository.print(replaced(kText, "no GPU", "Tesla T4")));
  REQUIRE(repository.record({}, repository.with_gpu()).status == 0);
  const RunResult all = repository.verify();
  CHECK(all.status == 0);
  CHECK(contains(all.out, "--- transcripts/p/cpu.md"));
  CHECK(contains(all.out, "--- transcripts/p/tesla-t4.md"));
  CHECK_FALSE(contains(repository.verify({"--machine", "cpu"}).out, "tesla"));
  const RunResult unknown = repository.verify({"--machine", "tesla-t5"});
  CHECK(unknown.status == 2);
  CHECK(unknown.err ==
        "transcript: transcripts/p/tesla-t5.md: no such evidence; did you mean "
        "'tesla-t4'?\n");
  CHECK(repository.verify({"--machine", "zebra"}).err ==
        "transcript: transcripts/p/zebra.md: no such evidence; there is: cpu, "
        "tesla-t4\n");
}

TEST_CASE("evidence whose bytes are not the recorded ones is refused before the run") {
  Recorded repository;
  repository.program("touch " + repository.path("ran") + "\n" +
                     repository.print(kText));
  repository.write("transcripts/p/cpu.md", replaced(kText, "0.300", "0.301"));
  const RunResult altered = repository.verify();
  CHECK(altered.status == 2);
  CHECK(
      altered.err ==
      "transcript: transcripts/p/cpu.md was altered since it was recorded; restore it, "
      "or record it again\n");
  CHECK_FALSE(fs::exists(repository.path("ran")));
  fs::remove(repository.path("transcripts/p/cpu.json"));
  CHECK(
      contains(repository.verify().err, "transcripts/p/cpu.json is missing; restore"));
}

TEST_CASE(
    "a program that fails is exit 3, one that hangs 4; JSON is whole in each case") {
  Recorded repository;
  const auto after = [&](const std::string& body, std::vector<std::string> more = {}) {
    repository.program(body);
    const RunResult result = repository.verify(more);
    CHECK(result.out == "");
    more.insert(more.end(), {"--format", "json"});
    const json document = json::parse(repository.verify(more).out);
    CHECK(document["exit_status"] == result.status);
    CHECK(document["error"].get<std::string>() == result.err);
    CHECK(document["comparisons"] == json::array());
    return std::to_string(result.status) + " " + result.err;
  };
  const std::string print = repository.print(kText);
  CHECK(after(print + "exit 3\n") == "3 transcript: program exited with status 3\n");
  CHECK(after(print + "echo 'no luck' >&2; exit 1\n") ==
        "3 no luck\ntranscript: program exited with status 1\n");
  CHECK(after(print + "kill -SEGV $$\n") ==
        "3 transcript: program was killed by SIGSEGV (Segmentation fault)\n");
  CHECK(after("echo; echo '  '\n") == "3 transcript: program printed nothing\n");
  CHECK(after("yes\n") == "3 transcript: program printed more than 67108864 bytes\n");
  CHECK(after(print + "sleep 100 & sleep 100\n", {"--timeout", "1"}) ==
        "4 transcript: program did not end within 1 s\n");
  CHECK(after(print, {"--machine", "none"}).substr(0, 2) == "2 ");
  repository.write("transcripts/p/rules.toml",
                   "[[rule]]\nsection = '*'\nclass = 'reported'\n");
  CHECK(
      after(print) ==
      "2 transcript: transcripts/p/cpu.md: nothing was judged: the rules excuse every "
      "line\n");
  repository.write("transcripts/p/rules.toml", "[[rule]]\nrow = 'a'\n");
  CHECK(after(print) ==
        "2 transcripts/p/rules.toml:1: a rule gives either 'class', or 'rel' and/or "
        "'abs'\n  [[rule]]\n  ^\n");
}

TEST_CASE("oddities of the output are noted and do not matter") {
  Recorded repository;
  const auto note = [&](const std::string& body) {
    repository.program(body);
    const RunResult result = repository.verify();
    CHECK(result.status == 0);
    const std::size_t at = result.out.find("note: ");
    return at == std::string::npos
               ? ""
               : result.out.substr(at, result.out.find('\n', at) - at);
  };
  std::string crlf;
  for (const char c : kText) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  CHECK(note(repository.print(crlf)) == "note: program: CRLF line endings");
  CHECK(note(repository.print(kText.substr(0, kText.size() - 1))) ==
        "note: program: no newline at the end");
  CHECK(note(repository.print(kText) +
             "head -c 1000000 /dev/zero | tr '\\0' e >&2\n") == "");
  CHECK(note(repository.print(kText) + "setsid sleep 5 &\n") ==
        "note: a process that the program started held its output open; it was ended, "
        "but one that left the program's process group may still be running");
}

TEST_CASE("a rule that matches nothing here must match something in other evidence") {
  Recorded repository;
  repository.gpu("Tesla T4");
  const std::string only_t4 = "\nonly here 5\n";
  repository.write("transcripts/p/rules.toml",
                   kRules + "[[rule]]\nline = 'only *'\nclass = 'optional'\n");
  CHECK(repository.verify().status == 2);
  CHECK(repository.verify().err ==
        "transcripts/p/rules.toml:8: this rule matches nothing, here or in evidence "
        "beside it; correct or remove it\n  [[rule]]\n  ^\n");
  repository.program(repository.print(replaced(kText, "no GPU", "Tesla T4") + only_t4));
  CHECK(repository.record({}, repository.with_gpu()).status == 0);
  repository.program(repository.print(kText));
  CHECK(repository.verify({"--machine", "cpu"}).status == 0);
  CHECK(repository.verify().status == 0);  // the T4's line is optional
}

TEST_CASE("diff compares two files, or one with standard input") {
  Recorded repository;
  repository.write("a.md", kText);
  repository.write("b.md", replaced(kText, "1.5000", "1.6000"));
  const std::string a = repository.path("a.md"), b = repository.path("b.md");
  const std::string rules = repository.path("transcripts/p/rules.toml");
  CHECK(repository.transcript({"diff", a, a}).status == 0);
  CHECK(repository.transcript({"diff", a, b}).status == 1);
  CHECK(repository.transcript({"diff", "--rules", rules, a, b}).status == 0);
  // The rules beside the recording apply by themselves.
  CHECK(repository.transcript({"diff", repository.path("transcripts/p/cpu.md"), b})
            .status == 0);
  CHECK(run({"sh", "-c", kQuotedExe + " diff " + a + " - < " + a}).status == 0);
  CHECK(run({"sh", "-c", kQuotedExe + " diff - " + b + " < " + a}).status == 1);
  CHECK(repository.transcript({"diff", a, "/dev/null"}).err ==
        "transcript: /dev/null: has no text: there is nothing to compare\n");
  const json report = json::parse(
      repository.transcript({"diff", "--format", "json", a, "/no/such"}).out);
  CHECK(report["exit_status"] == 2);
  CHECK(report["error"].get<std::string>() ==
        "transcript: /no/such: cannot open: No such file or directory\n");
}

TEST_CASE("colour only on a terminal, and not where it is unwanted") {
  Recorded repository;
  const std::string file = repository.path("transcripts/p/cpu.md");
  const auto on_terminal = [&](const std::string& environment) {
    return run({"script", "-qec",
                "env -u NO_COLOR TERM=xterm " + environment + " " + kQuotedExe +
                    " diff " + file + " " + file,
                "/dev/null"});
  };
  if (on_terminal("").end == RunResult::End::not_started) {
    MESSAGE("no 'script' here, which lends a terminal");
    return;
  }
  CHECK(contains(on_terminal("").out, "\033[32mmatch"));
  CHECK(contains(on_terminal("NO_COLOR=").out, "\033[32mmatch"));
  CHECK_FALSE(contains(on_terminal("NO_COLOR=1").out, "\033"));
  CHECK_FALSE(contains(on_terminal("TERM=dumb").out, "\033"));
  CHECK_FALSE(contains(repository.verify().out, "\033"));
}

TEST_CASE("get and export read figures by name") {
  Recorded repository;
  const auto get = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"get", "--root", repository.root()});
    const RunResult result = repository.transcript(more);
    return std::to_string(result.status) + " " + result.out + result.err;
  };
  CHECK(get({"case 2x2 / f32 / max err"}) == "0 0.100\n");
  CHECK(get({repository.path("transcripts/p/cpu.md") + "#case 2x2 / max ="}) ==
        "0 34.5857\n");
  CHECK(get({"transcripts/p/cpu.md#case 2x2 / max ="}) == "0 34.5857\n");
  CHECK(get({"--block", "case 2x2 / table"}).substr(0, 20) == "0 | kernel | max err");
  CHECK(contains(get({"case 2x2 / f32 / max er"}), "did you mean 'max err'?"));
  repository.write("transcripts/p/tesla-t4.md", replaced(kText, "0.100", "0.200"));
  CHECK(get({"case 2x2 / f32 / max err"}) ==
        "2 transcript: name a machine with --machine: cpu, tesla-t4\n");
  CHECK(get({"--machine", "tesla-t4", "case 2x2 / f32 / max err"}) == "0 0.200\n");
  const std::string file = repository.path("transcripts/p/tesla-t4.md");
  const json all = json::parse(repository.transcript({"export", file}).out);
  CHECK(all[3] == json{{"address", "case 2x2 / f32 / max err"},
                       {"section", "case 2x2"},
                       {"row", "f32"},
                       {"column", "max err"},
                       {"text", "0.200"},
                       {"value", 0.2}});
  CHECK(repository.transcript({"export", "--format", "tsv", file}).out.substr(0, 92) ==
        "address\tsection\trow\tcolumn\ttext\tvalue\n"
        "case 2x2 / case / 1\tcase 2x2\t\t\t2\t2\n"
        "case 2x2 / case / 2");
}

TEST_CASE("what cannot be used is exit 2, one clear error") {
  Repository repository;
  const auto error = [&](const std::vector<std::string>& arguments) {
    const RunResult result = repository.transcript(arguments);
    CHECK(result.status == 2);
    CHECK(result.out == "");
    return result.err;
  };
  const std::string root = repository.root();
  CHECK(contains(error({}), "subcommand is required"));
  CHECK(error({"verfy"}) != "");
  CHECK(contains(error({"diff", "a"}), "actual is required"));
  for (const char* bad : {"nan", "inf", "0", "1e18", "x"}) {
    CHECK(contains(error({"verify", "--timeout", bad, "--", "true"}), "--timeout: "));
  }
  CHECK(error({"diff", "-", "-"}) ==
        "transcript: only one side can be standard input\n");
  CHECK(error({"verify", "--root", root, "--program", "q"}) ==
        "transcript: transcripts/q: no such program; did you mean 'p'?\n");
  CHECK(error({"verify", "--root", root, "--program", "notes"}) ==
        "transcript: transcripts/notes: no such program; make the folder, with a "
        "rules.toml in it\n");
  CHECK(error({"verify", "--root", root}) ==
        "transcript: transcripts/p: no evidence to verify; record it first\n");
  CHECK(contains(error({"record", "--root", root}), "transcript: no program to run: "));
  CHECK(
      run({"sh", "-c", "cd / && " + kQuotedExe + " status"}).err ==
      "transcript: no folder 'transcripts' here or above: run this in the repository, "
      "or name it with --root\n");
  const RunResult help = repository.transcript({"--help"});
  CHECK(help.status == 0);
  CHECK(contains(help.out, "class = \"reported\""));
}

TEST_CASE("a report that cannot be written is an error") {
  Recorded repository;
  const std::string file = repository.path("transcripts/p/cpu.md");
  for (const std::string& arguments :
       {" diff " + file + " " + file, " diff --format json " + file + " " + file,
        " export " + file, std::string(" --help")}) {
    const RunResult full = run({"sh", "-c", kQuotedExe + arguments + " > /dev/full"});
    INFO(arguments);
    CHECK(full.status == 2);
    CHECK(full.err == "transcript: cannot write to standard output\n");
  }
}

TEST_CASE("folders may have spaces, apostrophes and other letters") {
  Repository repository("it's \xC3\xBC (1)");
  CHECK(repository.record({}, {"LANG=de_DE.UTF-8"}).status == 0);
  CHECK(repository.verify().status == 0);
  CHECK(repository.status().out == "fresh: 1 transcript\n");
  CHECK(
      run({"env", "-u", "LANG", TRANSCRIPT_EXE, "status", "--root", repository.root()})
          .status == 0);
}
