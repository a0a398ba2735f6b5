/* A simulated CUDA driver: the functions that supple calls, with the memory of the host. Streams run at once.
 *
 * Environment: SIMULATED_GPUS (1), SIMULATED_CUDA (13000), SIMULATED_MEMORY in bytes (1 << 30), SIMULATED_POOLS (1).
 * The kernel `scale` multiplies n doubles: (const double *from, double *to, double factor, int n).
 * The kernel `fail` fails. Every other name is not found.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long address;
#define EXPORT __attribute__((visibility("default")))

static long number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text ? atol(text) : otherwise;
}

/* The context that is current in this thread: the device's number plus one; pushed ones below it. */
static __thread uintptr_t stack[16];
static __thread int depth = 0;
static int current_is_missing(void) { return depth == 0 || stack[depth - 1] == 0; }

static struct { address at; size_t size; } blocks[4096];
static int block_count = 0;
static size_t used = 0;
static long copies = 0, launches = 0, waits = 0;

EXPORT long simulated_used(void) { return (long)used; }
EXPORT long simulated_copies(void) { return copies; }
EXPORT long simulated_launches(void) { return launches; }
EXPORT long simulated_waits(void) { return waits; }
EXPORT int simulated_depth(void) { return depth; }

static int take(address *found, size_t size) {
  if (current_is_missing()) return 201;
  if (size == 0) return 1;
  if (used + size > (size_t)number("SIMULATED_MEMORY", 1L << 30) || block_count == 4096) return 2;
  *found = (address)(uintptr_t)malloc(size);
  memset((void *)(uintptr_t)*found, 0xcd, size);
  blocks[block_count].at = *found;
  blocks[block_count++].size = size;
  used += size;
  return 0;
}

static int give(address at) {
  if (current_is_missing()) return 201;
  for (int i = 0; i < block_count; ++i)
    if (blocks[i].at == at) {
      used -= blocks[i].size;
      blocks[i] = blocks[--block_count];
      free((void *)(uintptr_t)at);
      return 0;
    }
  fprintf(stderr, "simulated driver: freed twice, or never taken: %llx\n", at);
  abort();
}

static int is_inside(address at, size_t size) {
  for (int i = 0; i < block_count; ++i)
    if (at >= blocks[i].at && at + size <= blocks[i].at + blocks[i].size) return 1;
  return 0;
}

EXPORT int cuInit(unsigned flags) { return number("SIMULATED_GPUS", 1) ? 0 : 100; }
EXPORT int cuDriverGetVersion(int *version) { *version = (int)number("SIMULATED_CUDA", 13000); return 0; }
EXPORT int cuGetErrorName(int code, const char **text) { *text = "CUDA_ERROR_SIMULATED"; return 0; }
EXPORT int cuGetErrorString(int code, const char **text) { *text = "a simulated error"; return 0; }
EXPORT int cuDeviceGetCount(int *count) { *count = (int)number("SIMULATED_GPUS", 1); return 0; }
EXPORT int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
EXPORT int cuDeviceGetName(char *name, int size, int device) { snprintf(name, size, "Simulated %d", device); return 0; }
EXPORT int cuDeviceTotalMem_v2(size_t *size, int device) { *size = number("SIMULATED_MEMORY", 1L << 30); return 0; }
EXPORT int cuDeviceGetAttribute(int *value, int which, int device) {
  *value = which == 16 ? 4 : which == 75 ? 9 : which == 97 ? 227 * 1024 : which == 115 ? (int)number("SIMULATED_POOLS", 1) : 0;
  return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) { *context = (void *)(uintptr_t)(device + 1); return 0; }
EXPORT int cuCtxGetCurrent(void **context) { *context = depth ? (void *)stack[depth - 1] : 0; return 0; }
EXPORT int cuCtxPushCurrent_v2(void *context) { stack[depth++] = (uintptr_t)context; return 0; }
EXPORT int cuCtxPopCurrent_v2(void **context) { *context = (void *)stack[--depth]; return 0; }

EXPORT int cuModuleLoadData(void **module, const void *code) {
  if (current_is_missing()) return 201;
  *module = (void *)0x10;
  return memcmp(code, "\177ELF", 4) && memcmp(code, "//", 2) ? 200 : 0; /* machine code, or PTX */
}
EXPORT int cuModuleGetFunction(void **function, void *module, const char *name) {
  uintptr_t which = !strcmp(name, "scale") ? 1 : !strcmp(name, "fail") ? 2 : 0;
  *function = (void *)which;
  return which && module == (void *)0x10 ? 0 : 500;
}
EXPORT int cuFuncGetAttribute(int *value, int which, void *function) { *value = which == 4 ? 32 : 0; return 0; }
EXPORT int cuFuncSetAttribute(void *function, int which, int value) { return which == 8 && value <= 227 * 1024 ? 0 : 1; }
EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, void *function, int block, size_t shared) {
  *count = 2048 / block;
  return 0;
}
struct launch { unsigned grid[3], block[3], shared; void *stream, *attributes; unsigned attribute_count; };
EXPORT int cuLaunchKernelEx(const struct launch *how, void *function, void **parameters, void **extra) {
  const unsigned *grid = how->grid, *block = how->block, gx = grid[0], bx = block[0];
  if (current_is_missing()) return 201;
  if (!gx || !grid[1] || !grid[2] || bx * block[1] * block[2] > 1024) return 1;
  if (function == (void *)2) return 719;
  const double *from = *(double **)parameters[0], factor = *(double *)parameters[2];
  double *to = *(double **)parameters[1];
  const int n = *(int *)parameters[3];
  if (!is_inside((address)(uintptr_t)from, 8 * n) || !is_inside((address)(uintptr_t)to, 8 * n)) return 700;
  for (int i = 0; i < n && i < (int)(gx * bx); ++i) to[i] = factor * from[i];
  ++launches;
  return 0;
}

EXPORT int cuMemGetInfo_v2(size_t *free, size_t *total) {
  *total = number("SIMULATED_MEMORY", 1L << 30);
  *free = *total - used;
  return 0;
}
EXPORT int cuMemAlloc_v2(address *found, size_t size) { return take(found, size); }
EXPORT int cuMemFree_v2(address at) { return give(at); }
EXPORT int cuMemPoolCreate(void **pool, const void *properties) {
  const int *fields = properties;
  *pool = (void *)0x20;
  return fields[0] == 1 && fields[1] == 0 && fields[2] == 1 ? 0 : 1;
}
EXPORT int cuMemPoolSetAttribute(void *pool, int which, void *value) { return pool == (void *)0x20 && which == 4 ? 0 : 1; }
EXPORT int cuMemPoolTrimTo(void *pool, size_t size) { return pool == (void *)0x20 ? 0 : 1; }
EXPORT int cuMemAllocFromPoolAsync(address *found, size_t size, void *pool, void *stream) {
  return pool == (void *)0x20 ? take(found, size) : 1;
}
EXPORT int cuMemFreeAsync(address at, void *stream) { return give(at); }
EXPORT int cuMemHostAlloc(void **found, size_t size, unsigned flags) {
  if (current_is_missing()) return 201;
  *found = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  return 0;
}
EXPORT int cuMemFreeHost(void *at) { free(at); return 0; }
EXPORT int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t size, void *stream) {
  if (current_is_missing()) return 201;
  if (!is_inside(to, size)) return 1;
  memcpy((void *)(uintptr_t)to, from, size);
  ++copies;
  return 0;
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, address from, size_t size, void *stream) {
  if (current_is_missing()) return 201;
  if (!is_inside(from, size)) return 1;
  memcpy(to, (void *)(uintptr_t)from, size);
  ++copies;
  return 0;
}
EXPORT int cuMemcpyDtoDAsync_v2(address to, address from, size_t size, void *stream) {
  if (!is_inside(from, size) || !is_inside(to, size)) return 1;
  memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, size);
  return 0;
}
EXPORT int cuMemsetD8Async(address at, unsigned char value, size_t size, void *stream) {
  if (!is_inside(at, size)) return 1;
  memset((void *)(uintptr_t)at, value, size);
  return 0;
}
EXPORT int cuPointerGetAttribute(void *value, int which, address at) { return 1; } /* as for memory unknown to CUDA */

EXPORT int cuStreamCreate(void **stream, unsigned flags) {
  static uintptr_t made = 0x100;
  *stream = (void *)(made += 0x10);
  return current_is_missing() ? 201 : 0;
}
EXPORT int cuStreamSynchronize(void *stream) { ++waits; return current_is_missing() ? 201 : 0; }
EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned flags) { return event ? 0 : 400; }
EXPORT int cuEventCreate(void **event, unsigned flags) { *event = malloc(8); return current_is_missing() ? 201 : 0; }
EXPORT int cuEventDestroy_v2(void *event) { free(event); return 0; }
EXPORT int cuEventRecord(void *event, void *stream) { return event ? 0 : 400; }
EXPORT int cuEventQuery(void *event) { return 0; }
EXPORT int cuEventSynchronize(void *event) { ++waits; return 0; }
EXPORT int cuEventElapsedTime(float *between, void *from, void *to) { *between = 1.5f; return 0; }
