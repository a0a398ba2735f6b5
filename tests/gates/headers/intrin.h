// What bind/dispatch.cpp needs of Visual C++'s <intrin.h>.
#pragma once
extern "C" void __cpuid(int *, int);
extern "C" void __cpuidex(int *, int, int);
extern "C" unsigned long long _xgetbv(unsigned);
