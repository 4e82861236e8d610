/* fuzz N FILE...: each file is a chunk "[...]" of trace events; the scanner reads it and N mutations of it. Every text has a block of
 * exactly its size, so that a sanitizer sees one byte too far. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *scan_new(uint64_t, const char *, uint64_t, const int32_t *, int32_t);
void scan_free(void *);
const void *scan(void *, const char *, uint64_t);
int64_t scan_size(void *);

static uint64_t x = 88172645463325252ull;
static uint64_t drawn(uint64_t n) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; return x % n; }
static void *scanner(void) {
    static const char keys[] = "External id\0Addr\0Input Dims\0est. achieved occupancy %\0stream";
    static const int32_t kinds[] = {0, 1, 2, 3, 4};
    return scan_new(drawn(UINT64_MAX), keys, sizeof keys, kinds, 5);
}
static size_t mutated(char *t, size_t n) {
    static const char *bits[] = {"\"", "\\", "{", "}", "[", "]", ",", ":", "null", "-", "0", "1e5", ".", "\\u12", "\\ud800", "\x80",
                                 "\xf0\x9f", "\xed\xa0\x80", "\n", "\x01", "9999999999999999999", "18446744073709551616", "true",
                                 "\"ph\":\"X\",", "NaN", "[[[[[[[[[[[[[[[[[["};
    size_t at = drawn(n), length = drawn(40), from = drawn(n);
    const char *bit = bits[drawn(sizeof bits / sizeof *bits)];
    switch (drawn(6)) {
    case 0: t[at] = (char)drawn(256); break;
    case 1: t[at] = (char)(t[at] ^ 1 << drawn(8)); break;
    case 2: if (at + strlen(bit) < n) memcpy(t + at, bit, strlen(bit)); break;
    case 3: if (at + length < n) { memmove(t + at, t + at + length, n - at - length); n -= length; } break;
    case 4: if (drawn(8) == 0) n = at + 1; break;
    default: if (at + length < n && from + length < n) memmove(t + at, t + from, length);
    }
    return n;
}
int main(int argc, char **argv) {
    long accepted = 0, refused = 0, each = argc > 1 ? atol(argv[1]) : 0;
    void *s = scanner();
    for (int a = 2; a < argc; a++) {
        FILE *f = fopen(argv[a], "rb");
        if (!f || fseek(f, 0, SEEK_END)) return 2;
        size_t n = (size_t)ftell(f);
        rewind(f);
        char *whole = malloc(n), *t = malloc(n);
        if (!whole || !t || fread(whole, 1, n, f) != n) return 2;
        fclose(f);
        for (long m = 0; m <= each; m++) {
            if (m % 20 == 19) { scan_free(s); s = scanner(); }
            memcpy(t, whole, n);
            size_t length = n;
            for (uint64_t k = m ? 1 + drawn(3) : 0; k; k--) length = mutated(t, length);
            char *padded = malloc(length + 64);
            if (!padded) return 2;
            memcpy(padded, t, length);
            memset(padded + length, 0, 64);
            if (scan(s, padded, length)) accepted++; else refused++;
            free(padded);
        }
        free(whole);
        free(t);
    }
    if (scan_size(s) < 0) return 2;
    scan_free(s);
    printf("accepted %ld refused %ld\n", accepted, refused);
    return 0;
}
