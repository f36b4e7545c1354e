// Preloaded into a recording: kills it, as a power cut would, before its KILL_AT-th
// step that changes what is on the disk (a rename or an fsync).
#include <dlfcn.h>
#include <signal.h>

#include <cstdlib>

namespace {

void step() {
  static int left = [] {
    const char* at = std::getenv("KILL_AT");
    return at == nullptr ? 0 : std::atoi(at);
  }();
  if (--left == 0) ::raise(SIGKILL);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int rename(const char* from, const char* to) {
  step();
  return next<int(const char*, const char*)>("rename")(from, to);
}

extern "C" int fsync(int file) {
  step();
  return next<int(int)>("fsync")(file);
}
