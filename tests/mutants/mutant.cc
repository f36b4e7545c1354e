#include "mutant.h"

#include <toml++/toml.h>

#include <set>

#include "diagnostic.h"
#include "file.h"

namespace mutants {
namespace {

[[noreturn]] void fail(const List& list, std::size_t line, std::string message) {
  common::Diagnostic diagnostic{list.file, line, 1, std::move(message), ""};
  std::size_t begin = 0;
  for (std::size_t i = 1; i < line; ++i) begin = list.text.find('\n', begin) + 1;
  diagnostic.source = list.text.substr(begin, list.text.find('\n', begin) - begin);
  throw common::DiagnosticError({diagnostic});
}

/// The keys of one table, each of which must be asked for.
class Keys {
 public:
  Keys(const List& list, const toml::table& table) : list_(list), table_(table) {}

  template <typename T>
  void get(const char* key, T& value, bool required = false) {
    known_.insert(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      if (required) fail(list_, line(), std::string("`") + key + "` is missing");
    } else if (const auto given = node->value<T>()) {
      value = *given;
    } else {
      fail(list_, node->source().begin.line, std::string("`") + key + "`: wrong type");
    }
  }
  void get(const char* key, std::vector<std::string>& values) {
    known_.insert(key);
    if (const toml::array* array = table_[key].as_array()) {
      for (const toml::node& each : *array) values.push_back(each.value_or(""));
    }
  }
  void refuse_others() const {
    for (const auto& [key, node] : table_) {
      if (known_.count(std::string(key.str())) == 0) {
        fail(list_, node.source().begin.line,
             "unknown key `" + std::string(key.str()) + "`; mutant.h has all of them");
      }
    }
  }
  std::size_t line(const char* key = nullptr) const {
    return (key ? table_.get(key)->source() : table_.source()).begin.line;
  }

 private:
  const List& list_;
  const toml::table& table_;
  std::set<std::string> known_{"check", "mutant"};
};

template <typename Read>
void each_table(const toml::table& root, const char* name, Read read) {
  if (const toml::array* array = root[name].as_array()) {
    for (const toml::node& node : *array) {
      if (const toml::table* table = node.as_table()) read(*table);
    }
  }
}

Check read_check(const List& list, const toml::table& table) {
  Keys keys(list, table);
  Check check;
  keys.get("name", check.name, true);
  keys.get("line", check.line);
  keys.get("rows", check.rows);
  keys.get("given", check.given);
  keys.get("columns", check.columns);
  keys.get("above", check.above);
  keys.refuse_others();
  return check;
}

Mutant read_mutant(const List& list, const toml::table& table) {
  Keys keys(list, table);
  Mutant mutant;
  keys.get("name", mutant.name, true);
  keys.get("from", mutant.from, true);
  keys.get("to", mutant.to, true);
  keys.get("noticed", mutant.noticed, true);
  keys.get("test", mutant.test);
  keys.get("cases", mutant.cases);
  keys.get("of", mutant.of);
  keys.get("which", mutant.which);
  keys.get("kernel", mutant.kernel);
  keys.refuse_others();
  mutant.line = static_cast<int>(keys.line("from"));
  const std::string& by = mutant.noticed;
  bool known =
      by == "otherwise" || by == "anything" || (by == "test" && !mutant.test.empty());
  for (const Check& check : list.checks) known |= check.name == by;
  if (!known) {
    fail(list, keys.line("noticed"), "no check is called `" + by + "`");
  }
  if (mutant.which < 1 || mutant.which > mutant.of) {
    fail(list, keys.line(), "`which` counts from 1 to `of`");
  }
  return mutant;
}

}  // namespace

List parse_list(const std::string& file, const std::string& text) {
  List list;
  list.file = file;
  list.text = text;
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    fail(list, error.source().begin.line, std::string(error.description()));
  }
  Keys keys(list, root);
  keys.get("program", list.program, true);
  keys.get("cases", list.cases, true);
  keys.get("gpu_cases", list.gpu_cases);
  keys.refuse_others();
  each_table(root, "check", [&](const auto& table) {
    list.checks.push_back(read_check(list, table));
  });
  each_table(root, "mutant", [&](const auto& table) {
    list.mutants.push_back(read_mutant(list, table));
  });
  return list;
}

List read_list(const std::string& file) {
  return parse_list(file, common::read_file(file));
}

std::string apply(const Mutant& mutant, const List& list, std::string_view source) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; (at = source.find(mutant.from, at)) != source.npos;
       at += mutant.from.size()) {
    places.push_back(at);
  }
  if (static_cast<int>(places.size()) != mutant.of) {
    fail(list, mutant.line,
         "mutant " + mutant.name + ": the text stands " +
             std::to_string(places.size()) + " times in src/" + list.program +
             ".cu, not " + std::to_string(mutant.of) +
             "; adapt `from` and `of` to the program");
  }
  std::string changed(source);
  return changed.replace(places[mutant.which - 1], mutant.from.size(), mutant.to);
}

}  // namespace mutants
