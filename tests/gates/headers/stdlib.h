// What <immintrin.h> needs of <stdlib.h>.
#pragma once
extern "C" void *malloc(decltype(sizeof 0));
extern "C" void free(void *);
