// What <immintrin.h> needs of <malloc.h>.
#pragma once
extern "C" void *_aligned_malloc(decltype(sizeof 0), decltype(sizeof 0));
extern "C" void _aligned_free(void *);
