#pragma once

// BRIGADE_API marks what modules, embedding programs and the program `brigade` may call of
// libbrigade.so. Everything else of the core is hidden: not part of any promise.

#define BRIGADE_API __attribute__((visibility("default")))
