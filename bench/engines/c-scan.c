// Dot products of one int8 query with int8 rows of 256: what the memory of this machine allows.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int count, char **arguments) {
  long rows = count > 1 ? atol(arguments[1]) : 100000;
  int rounds = count > 2 ? atoi(arguments[2]) : 50;
  int8_t *table = malloc(rows * 256);
  int8_t query[256];
  int32_t *found = malloc(rows * sizeof *found);
  if (!table || !found) return 1;
  uint32_t state = 1;
  for (long at = 0; at < rows * 256; at++) table[at] = (int8_t)((state = state * 1664525u + 1013904223u) >> 24);
  for (int axis = 0; axis < 256; axis++) query[axis] = (int8_t)((state = state * 1664525u + 1013904223u) >> 24);
  long total = 0;
  for (int round = 0; round < rounds; round++) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long row = 0; row < rows; row++) {
      const int8_t *restrict at = table + row * 256;
      int32_t sum = 0;
      for (int axis = 0; axis < 256; axis++) sum += (int16_t)at[axis] * (int16_t)query[axis];
      found[row] = sum;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    total += found[round % rows];
    printf("%.1f\n", (end.tv_sec - start.tv_sec) * 1e6 + (end.tv_nsec - start.tv_nsec) / 1e3);
  }
  return total == 42 ? 2 : 0;
}
