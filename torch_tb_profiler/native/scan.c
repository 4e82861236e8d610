/* One pass over a chunk of trace events: a JSON array of objects -> columns.
 *
 * A chunk is accepted only if every byte of it is plain, valid JSON of the expected types; of all else scan() says "no" and
 * the caller decodes it in Python. So nothing here repairs or guesses.
 *
 * The text is followed by PAD readable bytes, all 0. A NUL is wrong in every state, so it ends every loop without a
 * comparison of pointers.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#define SHIFT 0
#elif defined(__aarch64__)
#include <arm_neon.h>
#define SHIFT 2 /* bits of a mask per byte of text, as a power of two */
#else
#define SCALAR 1
#endif
#if defined(_WIN32)
#define API __declspec(dllexport)
#else
#define API __attribute__((visibility("default")))
#endif
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ABSENT INT64_MIN
typedef unsigned char u8;
enum { DEPTH = 64, PROBES = 96, BUCKETS = 256, MOST_ARGS = 64 };

/* --- texts as numbers ------------------------------------------------------------------------------------------- */
typedef struct { uint64_t hash, at; uint32_t len; int32_t id; } Slot;
typedef struct {
    Slot *slot; uint64_t mask;
    char *bytes; uint64_t used, room;
    uint64_t *ends; int64_t n, ends_room;
} Intern;

static uint64_t hash_of(const u8 *p, size_t n, uint64_t seed) {
    uint64_t h = seed ^ (n * 0x9E3779B97F4A7C15ull), v;
    for (; n > 8; p += 8, n -= 8) { memcpy(&v, p, 8); h = (h ^ v) * 0xff51afd7ed558ccdull; h ^= h >> 32; }
    if (n) { memcpy(&v, p, 8); v &= ~0ull >> (64 - 8 * n); h = (h ^ v) * 0xff51afd7ed558ccdull; h ^= h >> 32; }
    return h;
}
static Slot *empty_slots(uint64_t n) {
    Slot *slot = malloc(n * sizeof *slot);
    for (uint64_t i = 0; slot && i < n; i++) slot[i].id = -1;
    return slot;
}
static int intern_new(Intern *t, uint64_t slots) { t->mask = slots - 1; return (t->slot = empty_slots(slots)) != NULL; }
static void intern_free(Intern *t) { free(t->slot); free(t->bytes); free(t->ends); }
static int intern_grow(Intern *t) {
    uint64_t slots = 2 * (t->mask + 1);
    Slot *new = empty_slots(slots);
    if (!new) return 0;
    for (uint64_t i = 0; i <= t->mask; i++)
        if (t->slot[i].id >= 0) {
            uint64_t j = t->slot[i].hash & (slots - 1);
            while (new[j].id >= 0) j = (j + 1) & (slots - 1);
            new[j] = t->slot[i];
        }
    free(t->slot);
    t->slot = new; t->mask = slots - 1;
    return 1;
}
/* The number of a text; -1: no memory, or a text made to collide. 8 bytes from its last on are readable. */
static int32_t intern(Intern *t, const u8 *p, size_t n, uint64_t seed) {
    uint64_t h = hash_of(p, n, seed), i = h & t->mask;
    for (int probes = 0; t->slot[i].id >= 0; i = (i + 1) & t->mask) {
        if (t->slot[i].hash == h && t->slot[i].len == n && !memcmp(t->bytes + t->slot[i].at, p, n)) return t->slot[i].id;
        if (++probes > PROBES) return -1;
    }
    if (t->n >= INT32_MAX / 2) return -1;
    if (t->used + n > t->room) {
        uint64_t room = 2 * (t->used + n) + 4096;
        char *bytes = realloc(t->bytes, room);
        if (!bytes) return -1;
        t->bytes = bytes; t->room = room;
    }
    if (t->n == t->ends_room) {
        int64_t room = 2 * t->ends_room + 256;
        uint64_t *ends = realloc(t->ends, (size_t)room * sizeof *ends);
        if (!ends) return -1;
        t->ends = ends; t->ends_room = room;
    }
    memcpy(t->bytes + t->used, p, n);
    t->slot[i] = (Slot){h, t->used, (uint32_t)n, (int32_t)t->n};
    t->used += n;
    t->ends[t->n++] = t->used;
    if ((uint64_t)t->n * 2 > t->mask && !intern_grow(t)) return -1;
    return (int32_t)(t->n - 1);
}

/* --- what is known ------------------------------------------------------------------------------------------------ */
enum Kind { COUNT, WIDE, RAW, FIGURE, ID };
typedef struct { char *name; size_t len; int kind; } Arg;
typedef struct { int64_t n, room; int32_t *row; int64_t *value; } Sparse;
/* A value that Python must read: column (see OF_*), index there, number of its text. */
typedef struct { int64_t arg, at, text; } Odd;
enum { OF_TIME = -1, OF_DUR = -2, OF_ID = -3, DECIMALS_OF_DUR = -4 };
/* The layout that the caller reads. */
typedef struct {
    int64_t n, end, n_odd;
    u8 *phase;
    int32_t *cat, *name, *track;
    int64_t *ts, *dur, *id;
    uint32_t *args_at, *args_len, *at, *len;
    Odd *odd;
    Sparse arg[MOST_ARGS];
} Columns;
enum { NAMES, CATS, IDS, BLOBS, TRACKS, INTERNS };
typedef struct {
    Columns c;
    int64_t room, odd_room;
    Intern of[INTERNS];
    uint64_t seed, high;
    int n_args; Arg arg[MOST_ARGS]; int8_t bucket[BUCKETS]; char *keys;
    const u8 *text;
} State;

static inline int32_t number_of(State *s, int which, const u8 *p, const u8 *end) {
    return intern(&s->of[which], p, (size_t)(end - p), s->seed);
}
static inline unsigned key_hash(const u8 *p, size_t n) {
    return (unsigned)(n * 37 + p[0] * 11u + p[n - 1] * 5u + p[n / 2] * 3u) & (BUCKETS - 1);
}
static inline int arg_of(const State *s, const u8 *p, size_t n) {
    if (!n) return -1;
    for (unsigned h = key_hash(p, n); s->bucket[h] >= 0; h = (h + 1) & (BUCKETS - 1)) {
        int j = s->bucket[h];
        if (s->arg[j].len == n && !memcmp(s->arg[j].name, p, n)) return j;
    }
    return -1;
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */
static inline int is_space(u8 c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
static inline int is_digit(u8 c) { return (unsigned)(c - '0') < 10; }
static inline int is_hex(u8 c) { return is_digit(c) || (unsigned)((c | 32) - 'a') < 6; }
static inline const u8 *space(const u8 *p) {
    if (LIKELY(*p > ' ') || !is_space(*p)) return p;
    p++;
    if (LIKELY(*p > ' ')) return p;
#ifdef SCALAR
    while (is_space(*p)) p++;
    return p;
#else
    for (;; p += 16) {
#if SHIFT == 0
        __m128i x = _mm_loadu_si128((const __m128i *)p), b = _mm_cmpeq_epi8(x, _mm_set1_epi8(' '));
        b = _mm_or_si128(b, _mm_cmpeq_epi8(x, _mm_set1_epi8('\n')));
        b = _mm_or_si128(b, _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('\r')), _mm_cmpeq_epi8(x, _mm_set1_epi8('\t'))));
        uint64_t m = (unsigned)_mm_movemask_epi8(b) ^ 0xffffu;
#else
        uint8x16_t x = vld1q_u8(p), b = vorrq_u8(vceqq_u8(x, vdupq_n_u8(' ')), vceqq_u8(x, vdupq_n_u8('\n')));
        b = vmvnq_u8(vorrq_u8(b, vorrq_u8(vceqq_u8(x, vdupq_n_u8('\r')), vceqq_u8(x, vdupq_n_u8('\t')))));
        uint64_t m = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(b), 4)), 0);
#endif
        if (m) return p + (__builtin_ctzll(m) >> SHIFT);
    }
#endif
}
/* p at the backslash; behind the escape. NULL: bad, or half of a surrogate pair, which Python judges. */
static const u8 *escape(const u8 *p) {
    switch (p[1]) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't': return p + 2;
    case 'u':
        if (!is_hex(p[2]) || !is_hex(p[3]) || !is_hex(p[4]) || !is_hex(p[5])) return NULL;
        return (p[2] | 32) == 'd' && p[3] >= '8' ? NULL : p + 6;
    default: return NULL;
    }
}
/* p behind the opening quote; at the closing one, NULL: bad. *escaped is set if there is a backslash. */
static inline const u8 *string_end(State *s, const u8 *p, int *escaped) {
    for (;;) {
#ifdef SCALAR
        while (*p >= 0x20 && *p != '"' && *p != '\\') s->high |= *p++ >> 7;
#else
#if SHIFT == 0
        __m128i x = _mm_loadu_si128((const __m128i *)p);
        __m128i b = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')), _mm_cmpeq_epi8(x, _mm_set1_epi8('\\')));
        b = _mm_or_si128(b, _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1f)), x));
        uint64_t m = (unsigned)_mm_movemask_epi8(b);
        s->high |= (unsigned)_mm_movemask_epi8(x);
#else
        uint8x16_t x = vld1q_u8(p), b = vorrq_u8(vceqq_u8(x, vdupq_n_u8('"')), vceqq_u8(x, vdupq_n_u8('\\')));
        b = vorrq_u8(b, vcltq_u8(x, vdupq_n_u8(0x20)));
        uint64_t m = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(b), 4)), 0);
        s->high |= vmaxvq_u8(x) >> 7;
#endif
        if (!m) { p += 16; continue; }
        p += __builtin_ctzll(m) >> SHIFT;
#endif
        if (LIKELY(*p == '"')) return p;
        if (*p != '\\') return NULL;
        *escaped = 1;
        if (!(p = escape(p))) return NULL;
    }
}
static inline const u8 *digits(const u8 *p) {
    if (!is_digit(*p)) return NULL;
    do p++; while (is_digit(*p));
    return p;
}
static inline const u8 *number_end(const u8 *p) {
    if (*p == '-') p++;
    if (*p == '0') p++;
    else if (!(p = digits(p))) return NULL;
    if (*p == '.' && !(p = digits(p + 1))) return NULL;
    if ((*p | 32) == 'e') {
        p++;
        return digits(*p == '+' || *p == '-' ? p + 1 : p);
    }
    return p;
}
/* p at the first byte of a value; behind it, NULL: bad */
static const u8 *value_end(State *s, const u8 *p, int depth) {
    int escaped = 0;
    u8 close = *p == '[' ? ']' : '}';
    switch (*p) {
    case '"': p = string_end(s, p + 1, &escaped); return p ? p + 1 : NULL;
    case 't': return memcmp(p, "true", 4) ? NULL : p + 4;
    case 'f': return memcmp(p, "false", 5) ? NULL : p + 5;
    case 'n': return memcmp(p, "null", 4) ? NULL : p + 4;
    case '[': case '{':
        if (depth >= DEPTH) return NULL;
        p = space(p + 1);
        if (*p == close) return p + 1;
        for (;;) {
            if (close == '}') {
                if (*p != '"' || !(p = string_end(s, p + 1, &escaped))) return NULL;
                p = space(p + 1);
                if (*p != ':') return NULL;
                p = space(p + 1);
            }
            if (!(p = is_digit(*p) ? number_end(p) : value_end(s, p, depth + 1))) return NULL;
            p = space(p);
            if (*p == close) return p + 1;
            if (*p != ',') return NULL;
            p = space(p + 1);
        }
    default: return number_end(p);
    }
}
static inline int follows(const u8 *p, int n, u8 low, u8 high) { /* n bytes that continue a letter, the first within limits */
    if (p[1] < low || p[1] > high) return 0;
    for (int i = 2; i <= n; i++) if ((p[i] & 0xc0) != 0x80) return 0;
    return 1;
}
static int valid_utf8(const u8 *p, const u8 *end) {
    while (p < end) {
        uint64_t v;
        memcpy(&v, p, 8);
        if (!(v & 0x8080808080808080ull)) { p += 8; continue; }
        u8 c = *p;
        int n = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        if (n && (c < 0xc2 || c > 0xf4)) return 0;
        u8 low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80, high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
        if (n && !follows(p, n, low, high)) return 0;
        p += n + 1;
    }
    return 1;
}
/* A whole number that fits, 64 bits without sign if it is wide; NULL: none. */
static inline const u8 *integer(const u8 *p, int64_t *out, int wide) {
    int minus = *p == '-', n = 0;
    const u8 *q = p + minus;
    uint64_t v = 0;
    if (*q == '0' && is_digit(q[1])) return NULL;
    while (n < 19 && is_digit(*q)) { v = v * 10 + (uint64_t)(*q++ - '0'); n++; }
    if (UNLIKELY(n == 19)) {
        for (; is_digit(*q); q++) {
            uint64_t d = (uint64_t)(*q - '0');
            if (v > (UINT64_MAX - d) / 10) return NULL;
            v = v * 10 + d;
        }
        if (v > INT64_MAX && (minus || !wide)) return NULL;
    }
    if (!n || *q == '.' || (*q | 32) == 'e') return NULL;
    *out = (int64_t)(minus ? 0 - v : v);
    return q;
}
/* Decimal microseconds as ns, halves rounded up; ABSENT: Python must read it. p is a valid value up to end. *more is set if
 * there are decimals beyond the ns. */
static inline int64_t nanoseconds(const u8 *p, const u8 *end, int *more) {
    static const uint64_t scale[] = {1000, 100, 10, 1};
    uint64_t v = 0;
    int n = 0, after = 0, up = 0;
    for (; p < end && is_digit(*p) && n <= 16; p++, n++) v = v * 10 + (uint64_t)(*p - '0');
    if (!n || n > 16) return ABSENT;
    if (p < end && *p == '.') {
        for (p++; p < end && is_digit(*p) && after < 3; p++, after++) v = v * 10 + (uint64_t)(*p - '0');
        if (p < end && is_digit(*p)) { up = *p >= '5'; *more = 1; do p++; while (p < end && is_digit(*p)); }
    }
    if (p != end) return ABSENT;
    v = v * scale[after] + (uint64_t)up;
    return v >= 3000000000000000000ull ? ABSENT : (int64_t)v;
}

/* --- a chunk ------------------------------------------------------------------------------------------------------ */
#define GROW(array, room) (((grown = realloc(array, (size_t)(room) * sizeof *(array))) != NULL) && ((array) = grown, 1))
static int room_for_event(State *s) {
    Columns *c = &s->c;
    if (LIKELY(c->n < s->room)) return 1;
    int64_t room = s->room ? 2 * s->room : 8192;
    void *grown;
    if (!GROW(c->phase, room) || !GROW(c->cat, room) || !GROW(c->name, room) || !GROW(c->track, room) || !GROW(c->ts, room)
        || !GROW(c->dur, room) || !GROW(c->id, room) || !GROW(c->args_at, room) || !GROW(c->args_len, room)
        || !GROW(c->at, room) || !GROW(c->len, room)) return 0;
    s->room = room;
    return 1;
}
static inline int put(Sparse *a, int64_t row, int64_t value) {
    if (UNLIKELY(a->n == a->room)) {
        int64_t room = a->room ? 2 * a->room : 1024;
        void *grown;
        if (!GROW(a->row, room) || !GROW(a->value, room)) return 0;
        a->room = room;
    }
    a->row[a->n] = (int32_t)row;
    a->value[a->n++] = value;
    return 1;
}
static int put_odd(State *s, int64_t arg, int64_t at, const u8 *p, const u8 *end) {
    int32_t text = number_of(s, BLOBS, p, end);
    if (text < 0) return 0;
    if (s->c.n_odd == s->odd_room) {
        int64_t room = s->odd_room ? 2 * s->odd_room : 256;
        void *grown;
        if (!GROW(s->c.odd, room)) return 0;
        s->odd_room = room;
    }
    s->c.odd[s->c.n_odd++] = (Odd){arg, at, text};
    return 1;
}
/* An argument that is known. */
static const u8 *known_value(State *s, const u8 *p, int j, int64_t row) {
    Sparse *a = &s->c.arg[j];
    int kind = s->arg[j].kind;
    const u8 *end;
    int64_t v;
    if (kind == RAW || kind == FIGURE) {
        if (kind == FIGURE && *p == 'n') return value_end(s, p, 2);
        if (!(end = kind == FIGURE ? number_end(p) : value_end(s, p, 2))) return NULL;
        return (v = number_of(s, BLOBS, p, end)) >= 0 && put(a, row, v) ? end : NULL;
    }
    if (*p == 'n') return value_end(s, p, 2);
    if ((end = integer(p, &v, kind == WIDE))) return put(a, row, v) ? end : NULL;
    if (*p != '"' && (kind != ID || (*p != '-' && !is_digit(*p)))) return NULL;
    if (!(end = value_end(s, p, 2)) || !put_odd(s, j, a->n, p, end) || !put(a, row, -1)) return NULL;
    return end;
}
static const u8 *arguments(State *s, const u8 *p, int64_t row) { /* p at the brace */
    uint64_t seen = 0;
    p = space(p + 1);
    if (*p == '}') return p + 1;
    for (;;) {
        int escaped = 0;
        if (*p != '"') return NULL;
        const u8 *key = p + 1, *q = string_end(s, key, &escaped);
        if (!q || escaped) return NULL;
        int j = arg_of(s, key, (size_t)(q - key));
        p = space(q + 1);
        if (*p != ':') return NULL;
        p = space(p + 1);
        if (j < 0) p = is_digit(*p) ? number_end(p) : value_end(s, p, 2);
        else {
            if (seen >> j & 1) return NULL;
            seen |= 1ull << j;
            p = known_value(s, p, j, row);
        }
        if (!p) return NULL;
        p = space(p);
        if (*p == '}') return p + 1;
        if (*p != ',') return NULL;
        p = space(p + 1);
    }
}
enum Field { OTHER, PH, NAME, CAT, PID, TID, TS, DUR, IDENT, ARGS };
static inline enum Field field_of(const u8 *key, size_t n) {
    if (n == 2) return !memcmp(key, "ph", 2) ? PH : !memcmp(key, "ts", 2) ? TS : !memcmp(key, "id", 2) ? IDENT : OTHER;
    if (n == 3) {
        if (!memcmp(key, "dur", 3)) return DUR;
        return !memcmp(key, "cat", 3) ? CAT : !memcmp(key, "pid", 3) ? PID : !memcmp(key, "tid", 3) ? TID : OTHER;
    }
    if (n == 4) return !memcmp(key, "name", 4) ? NAME : !memcmp(key, "args", 4) ? ARGS : OTHER;
    return OTHER;
}
static const u8 *id_text(State *s, const u8 *p, int32_t *out) {
    if (*p != '"' && *p != '-' && !is_digit(*p) && *p != 'n') return NULL;
    const u8 *end = is_digit(*p) ? number_end(p) : value_end(s, p, 1);
    return end && (*out = number_of(s, IDS, p, end)) >= 0 ? end : NULL;
}
static const u8 *time_of(State *s, const u8 *p, int64_t row, int64_t *out, int column) {
    const u8 *end = value_end(s, p, 1);
    int more = 0;
    if (!end) return NULL;
    *out = nanoseconds(p, end, &more);
    if (*out == ABSENT) return put_odd(s, column, row, p, end) ? end : NULL;
    return !more || column == OF_TIME || put_odd(s, DECIMALS_OF_DUR, row, p, end) ? end : NULL;
}
static const u8 *event(State *s, const u8 *p) { /* p at the brace */
    if (!room_for_event(s)) return NULL;
    Columns *c = &s->c;
    int64_t row = c->n, ts = ABSENT, dur = ABSENT, id = ABSENT;
    int32_t cat = -1, name = -1, pair[2] = {-1, -1}, track;
    uint32_t args_at = 0, args_len = 0;
    const u8 *begin = p, *end;
    unsigned seen = 0;
    u8 phase = 0;
    p = space(p + 1);
    for (;;) {
        int escaped = 0;
        if (*p != '"') return NULL;
        const u8 *key = p + 1, *q = string_end(s, key, &escaped);
        if (!q || escaped) return NULL;
        enum Field what = field_of(key, (size_t)(q - key));
        if (what != OTHER && seen >> what & 1) return NULL;
        seen |= 1u << what;
        p = space(q + 1);
        if (*p != ':') return NULL;
        p = space(p + 1);
        int null = *p == 'n';
        switch (what) {
        case PH:
            if (p[0] != '"' || p[1] < 0x21 || p[1] > 0x7e || p[1] == '\\' || p[1] == '"' || p[2] != '"') return NULL;
            phase = p[1];
            end = p + 3;
            break;
        case NAME: case CAT: {
            int32_t *out = what == NAME ? &name : &cat;
            if (null) { end = value_end(s, p, 1); break; }
            if (*p != '"' || !(end = string_end(s, p + 1, &escaped))) return NULL;
            if ((*out = number_of(s, what == NAME ? NAMES : CATS, p, ++end)) < 0) return NULL;
            break; }
        case PID: end = id_text(s, p, &pair[0]); break;
        case TID: end = id_text(s, p, &pair[1]); break;
        case TS: end = time_of(s, p, row, &ts, OF_TIME); break;
        case DUR: end = time_of(s, p, row, &dur, OF_DUR); break;
        case IDENT:
            if (null || (end = integer(p, &id, 0)) == NULL) {
                if (!null && *p != '"' && *p != '-' && !is_digit(*p)) return NULL;
                if ((end = value_end(s, p, 1)) && !null && !put_odd(s, OF_ID, row, p, end)) return NULL;
            }
            break;
        case ARGS:
            if (!null && *p != '{') return NULL;
            if (!(end = null ? value_end(s, p, 1) : arguments(s, p, row))) return NULL;
            args_at = (uint32_t)(p - s->text);
            args_len = (uint32_t)(end - p);
            break;
        default: end = value_end(s, p, 1);
        }
        if (!end) return NULL;
        p = space(end);
        if (*p == '}') break;
        if (*p != ',') return NULL;
        p = space(p + 1);
    }
    if (!phase || (track = intern(&s->of[TRACKS], (const u8 *)pair, 8, s->seed)) < 0) return NULL;
    p++;
    c->phase[row] = phase; c->cat[row] = cat; c->name[row] = name; c->track[row] = track;
    c->ts[row] = ts; c->dur[row] = dur; c->id[row] = id;
    c->args_at[row] = args_at; c->args_len[row] = args_len;
    c->at[row] = (uint32_t)(begin - s->text); c->len[row] = (uint32_t)(p - begin);
    c->n++;
    return p;
}

API void scan_free(void *state) {
    State *s = state;
    if (!s) return;
    Columns *c = &s->c;
    void *all[] = {c->phase, c->cat, c->name, c->track, c->ts, c->dur, c->id, c->args_at, c->args_len, c->at, c->len, c->odd,
                   s->keys};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    for (int i = 0; i < INTERNS; i++) intern_free(&s->of[i]);
    for (int j = 0; j < MOST_ARGS; j++) { free(c->arg[j].row); free(c->arg[j].value); }
    free(s);
}
/* keys: n names of arguments, each ended by a NUL; kinds: of each (enum Kind). NULL: no memory, or too many. */
API void *scan_new(uint64_t seed, const char *keys, uint64_t length, const int32_t *kinds, int32_t n) {
    static const uint64_t slots[INTERNS] = {4096, 256, 256, 4096, 256};
    State *s = n < 0 || n > MOST_ARGS ? NULL : calloc(1, sizeof *s);
    int fine = s && (s->keys = malloc(length + 1)) != NULL;
    for (int i = 0; fine && i < INTERNS; i++) fine = intern_new(&s->of[i], slots[i]);
    if (!fine) { scan_free(s); return NULL; }
    memcpy(s->keys, keys, length);
    s->keys[length] = 0;
    s->seed = seed; s->n_args = n;
    memset(s->bucket, -1, sizeof s->bucket);
    char *name = s->keys;
    for (int j = 0; j < n && name < s->keys + length; j++) {
        s->arg[j] = (Arg){name, strlen(name), kinds[j]};
        name += s->arg[j].len + 1;
        unsigned h = key_hash((const u8 *)s->arg[j].name, s->arg[j].len);
        while (s->bucket[h] >= 0) h = (h + 1) & (BUCKETS - 1);
        s->bucket[h] = (int8_t)j;
    }
    return s;
}
/* The columns of a text, "[events]" and PAD bytes 0; NULL: decode it otherwise. Valid until the next call. */
API const Columns *scan(void *state, const char *text, uint64_t length) {
    State *s = state;
    Columns *c = &s->c;
    const u8 *begin = (const u8 *)text, *p = begin;
    c->n = c->n_odd = c->end = 0;
    s->text = begin; s->high = 0;
    for (int j = 0; j < s->n_args; j++) c->arg[j].n = 0;
    if (length < 2 || length >= UINT32_MAX || *p != '[' || p[length]) return NULL;
    p = space(p + 1);
    while (*p != ']') {
        if (*p != '{' || !(p = event(s, p))) return NULL;
        p = space(p);
        if (*p == ']') break;
        if (*p != ',') return NULL;
        p = space(p + 1);
        if (*p == ']') return NULL;
    }
    c->end = p - begin;
    return s->high && !valid_utf8(begin, p) ? NULL : c;
}
/* How many texts a numbering has, one behind the other, and where each ends. */
API int64_t scan_texts(void *state, int which, const char **bytes, const uint64_t **ends) {
    Intern *t = &((State *)state)->of[which];
    *bytes = t->bytes; *ends = t->ends;
    return t->n;
}
/* Bytes that all numberings take, about. */
API int64_t scan_size(void *state) {
    int64_t size = 0;
    for (Intern *t = ((State *)state)->of, *end = t + INTERNS; t < end; t++) size += (int64_t)t->used + 64 * t->n;
    return size;
}
/* Of which source this was made; see library.py. */
#ifndef NATIVE_SOURCE
#define NATIVE_SOURCE ""
#endif
API const char *native_source(void) { return NATIVE_SOURCE; }
