// A library needs a source; this one holds the precompiled headers of the tests (CMakeLists.txt).
