#include "rewrite.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "diagnostic.h"

namespace {

// The text after the two lines that every result starts with.
std::string body(std::string_view source) {
  const std::string head = "#include <cuda_runtime.h>\n#line 1 \"a.cu\"\n";
  const std::string text = cpu_cuda::rewrite(source, "a.cu");
  REQUIRE(text.substr(0, head.size()) == head);
  CHECK(std::count(text.begin(), text.end(), '\n') - 2 ==
        std::count(source.begin(), source.end(), '\n'));
  return text.substr(head.size());
}

std::string errors(std::string_view source) {
  std::string out;
  try {
    cpu_cuda::rewrite(source, "a.cu");
  } catch (const common::DiagnosticError& error) {
    for (const auto& each : error.diagnostics()) out += format(each);
  }
  return out;
}

}  // namespace

TEST_CASE("the head includes the runtime and keeps names and lines") {
  CHECK(cpu_cuda::rewrite("int x;", "../src/a.cu") ==
        "#include <cuda_runtime.h>\n#line 1 \"../src/a.cu\"\nint x;");
  CHECK(cpu_cuda::rewrite("\xEF\xBB\xBFint x;\r\n", "q\"\\.cu") ==
        "#include <cuda_runtime.h>\n#line 1 \"q\\\"\\\\.cu\"\nint x;\r\n");
}

TEST_CASE("launches") {
  CHECK(body("k<<<g, b>>>(x);") == "k ->* ::cpu_cuda::launch(g, b)(x);");
  CHECK(body("k<true, false><<<g, b, 0, s>>>(x);") ==
        "k<true, false> ->* ::cpu_cuda::launch(g, b, 0, s)(x);");
  CHECK(body("ns::k<<<1, 2>>>();a<<<3, 4>>>();") ==
        "ns::k ->* ::cpu_cuda::launch(1, 2)();a ->* ::cpu_cuda::launch(3, 4)();");
}

TEST_CASE("a configuration over several lines") {
  CHECK(body("k<<<g,  // one\n    b>>>(\n    x);") ==
        "k ->* ::cpu_cuda::launch(g,  // one\n    b)(\n    x);");
}

TEST_CASE("a configuration that contains >") {
  CHECK(body("k<<<n > 4 ? 1 : 2, n >> 3>>>(x);") ==
        "k ->* ::cpu_cuda::launch(n > 4 ? 1 : 2, n >> 3)(x);");
  CHECK(body("k<<<dim3(a >= b), f<int>()>>>(x);") ==
        "k ->* ::cpu_cuda::launch(dim3(a >= b), f<int>())(x);");
  CHECK(body("k<<<1, size<int>>>>(x);") ==
        "k ->* ::cpu_cuda::launch(1, size<int>)(x);");
  CHECK(body("k<<<sizeof(A<A<A<int>>>), 1>>>(x);") ==
        "k ->* ::cpu_cuda::launch(sizeof(A<A<A<int>>>), 1)(x);");
  CHECK(body("k<<<1, '>' + (\">>>\"[0])>>>(x);") ==
        "k ->* ::cpu_cuda::launch(1, '>' + (\">>>\"[0]))(x);");
}

TEST_CASE("what only looks like a launch stays") {
  for (const char* text :
       {"// k<<<1, 1>>>();", "/* k<<<1,\n1>>>(); */", "\"k<<<1, 1>>>()\"",
        "R\"(k<<<1, 1>>>())\"", "#error k<<<1, 1>>>()", "a << b >> c",
        "A<A<A<int>>> a;", "x = 1'0 < 2 ? '<' : '\\''; y << <"}) {
    CHECK(body(text) == text);
  }
}

TEST_CASE("a launch in a macro") {
  CHECK(body("#define RUN(k, x) \\\n  k<<<1, \\\n 2>>>(x)\nRUN(k, y);") ==
        "#define RUN(k, x) \\\n  k ->* ::cpu_cuda::launch(1, \\\n 2)(x)\nRUN(k, y);");
}

TEST_CASE("a launch that does not end") {
  CHECK(errors("void f() {\n\tk<<<1, 1>>(x);\n}\n") ==
        "a.cu:2: launch `<<<` without its `>>>`\n"
        "  \tk<<<1, 1>>(x);\n"
        "  \t ^\n");
  CHECK(errors("#define OPEN <<<\nk OPEN 1, 1>>>(x);\n") ==
        "a.cu:1: launch `<<<` without its `>>>`\n"
        "  #define OPEN <<<\n"
        "               ^\n");
  CHECK(errors("f(k<<<1);\r\nk<<<1, 1") ==
        "a.cu:1: launch `<<<` without its `>>>`\n"
        "  f(k<<<1);\n"
        "     ^\n"
        "a.cu:2: launch `<<<` without its `>>>`\n"
        "  k<<<1, 1\n"
        "   ^\n");
}

TEST_CASE("shared memory is poisoned where it is declared") {
  CHECK(body("__shared__ float t[16][17];") ==
        "__shared__ float t[16][17]; ::cpu_cuda::poison(t);");
  CHECK(body("__shared__ A<int, 4> a, b[N > 2 ? 1 : 2];") ==
        "__shared__ A<int, 4> a, b[N > 2 ? 1 : 2]; ::cpu_cuda::poison(a, b);");
  CHECK(body("__shared__ __align__(16) int\n  x;") ==
        "__shared__ __align__(16) int\n  x; ::cpu_cuda::poison(x);");
}

TEST_CASE("dynamic shared memory") {
  CHECK(body("extern __shared__ float s[];") ==
        " float *s = ::cpu_cuda::dynamic_shared();");
  CHECK(body("extern __shared__ __align__(16) unsigned char s[];") ==
        " __align__(16) unsigned char *s = ::cpu_cuda::dynamic_shared();");
  CHECK(errors("extern __shared__ float s[16];") ==
        "a.cu:1: write `extern __shared__ T name[];`, inside the kernel\n"
        "  extern __shared__ float s[16];\n"
        "         ^\n");
}

TEST_CASE("shared memory that cannot be read") {
  CHECK(errors("__shared__ int x = 3;") ==
        "a.cu:1: cannot read this declaration; write `__shared__ T name[N];`\n"
        "  __shared__ int x = 3;\n"
        "  ^\n");
  CHECK(errors("f(__shared__ int x);") ==
        "a.cu:1: cannot read this declaration; write `__shared__ T name[N];`\n"
        "  f(__shared__ int x);\n"
        "    ^\n");
}

TEST_CASE("a barrier belongs in the kernel itself") {
  const char* good = "__global__ void k() { __syncthreads(); }";
  CHECK(body(good) == good);
  const char* macro = "__device__ int x;\n#define SYNC __syncthreads()\n";
  CHECK(body(macro) == macro);
  CHECK(
      errors("__device__ void sync() {\n  __syncthreads();\n}") ==
      "a.cu:2: __syncthreads() in a __device__ function: on a CPU a barrier must stand "
      "in the __global__ function itself\n"
      "    __syncthreads();\n"
      "    ^\n");
}
