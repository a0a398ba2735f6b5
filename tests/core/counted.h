// Memory that is asked for past operator new is counted too.
#pragma once
#include "check.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
extern "C" void *__libc_malloc(std::size_t);
extern "C" void *malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
#endif
