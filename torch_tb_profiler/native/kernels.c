/* Loops over columns that numpy can only do in many passes. What each returns is said by the function of the same name in Python.
 *
 * No index is believed: a parent must come before its child (-1: none), and what starts a walk must be a row. Where that does not
 * hold a kernel returns 0, or -1 for a count, and Python does the work. Every walk goes down in rows, so that it ends.
 */
#include <stdint.h>
#if defined(_WIN32)
#define API __declspec(dllexport)
#else
#define API __attribute__((visibility("default")))
#endif
#define BEFORE(q, i) ((q) >= -1 && (q) < (i))

/* The length of disjoint ascending intervals before each time; times mostly ascend, so it searches from the last place on. */
API void length_before(const int64_t *start, const int64_t *end, const int64_t *total, int64_t m, const int64_t *time,
                       int64_t *out, int64_t n) {
    int64_t k = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t t = time[i], low = 0, high = k;
        if (k == 0 || start[k - 1] <= t) {
            int64_t step = 1;
            for (; k + step <= m && start[k + step - 1] <= t; step *= 2) k += step;
            low = k;
            high = k + step < m ? k + step : m;
        }
        while (low < high) {
            int64_t middle = (low + high) / 2;
            if (start[middle] <= t) low = middle + 1; else high = middle;
        }
        k = low;
        out[i] = total[k] - (k > 0 && end[k - 1] > t ? end[k - 1] - t : 0);
    }
}

/* The innermost span around each, which are in the order of their begin; last: of each track the one before, -1 at first. */
API int nested(const int32_t *track, const int64_t *start, const int64_t *end, int64_t n, int32_t *last, int64_t tracks,
               int32_t *parent, uint8_t *overlapping) {
    for (int64_t i = 0; i < n; i++) {
        if (track[i] < 0 || track[i] >= tracks) return 0;
        int32_t q = last[track[i]];
        for (; q >= 0 && (end[q] < end[i] || end[q] <= start[i]); q = parent[q])
            if (end[q] > start[i]) overlapping[i] = 1;
        parent[i] = q;
        last[track[i]] = (int32_t)i;
    }
    return 1;
}

#define KERNELS(N, T) \
API int nearest##N(const T *parent, const uint8_t *wanted, int32_t *out, int64_t n) { \
    for (int64_t i = 0; i < n; i++) { \
        T q = parent[i]; \
        if (!BEFORE(q, i)) return 0; \
        out[i] = wanted[i] ? (int32_t)i : q < 0 ? -1 : out[q]; \
    } \
    return 1; \
} \
API int with_ancestors##N(const T *parent, uint8_t *mask, int64_t n) { \
    for (int64_t i = 0; i < n; i++) if (!BEFORE(parent[i], i)) return 0; \
    for (int64_t i = n - 1; i >= 0; i--) if (mask[i] && parent[i] >= 0) mask[parent[i]] = 1; \
    return 1; \
} \
API int depths##N(const T *parent, int64_t *out, int64_t n) { \
    for (int64_t i = 0; i < n; i++) { \
        if (!BEFORE(parent[i], i)) return 0; \
        out[i] = parent[i] < 0 ? 0 : out[parent[i]] + 1; \
    } \
    return 1; \
} \
API int climb##N(const T *parent, const uint8_t *wanted, int64_t n, int64_t *at, int64_t m) { \
    for (int64_t i = 0; i < m; i++) { \
        int64_t row = at[i]; \
        if (!BEFORE(row, n)) return 0; \
        while (row >= 0 && !wanted[row]) { \
            T q = parent[row]; \
            if (!BEFORE(q, row)) return 0; \
            row = q; \
        } \
        at[i] = row; \
    } \
    return 1; \
} \
API int still_open##N(const T *parent, const int64_t *end, int64_t n, int64_t *span, const int64_t *time, int64_t m) { \
    for (int64_t i = 0; i < m; i++) { \
        int64_t row = span[i]; \
        if (!BEFORE(row, n)) return 0; \
        while (row >= 0 && end[row] <= time[i]) { \
            T q = parent[row]; \
            if (!BEFORE(q, row)) return 0; \
            row = q; \
        } \
        span[i] = row; \
    } \
    return 1; \
} \
API int64_t segments##N(const T *parent, const int64_t *start, const int64_t *end, int64_t n, const int64_t *rows, int64_t m, \
                        int64_t *begin, int64_t *inner) { /* both have room for 2 m; behind the last begin stands the end */ \
    int64_t last = INT64_MIN, row = -1, k = 0, count = 0; \
    for (int64_t i = 0; i < m; i++) { \
        if (rows[i] < 0 || rows[i] >= n || end[rows[i]] < start[rows[i]]) return -1; \
        if (i && start[rows[i]] < start[rows[i - 1]]) return -1; \
        if (end[rows[i]] > last) last = end[rows[i]]; \
    } \
    for (;;) { \
        int64_t opens = k < m ? start[rows[k]] : INT64_MAX, closes = row >= 0 ? end[row] : INT64_MAX; \
        int64_t now = opens < closes ? opens : closes; \
        if (now >= last) break; \
        while (k < m && start[rows[k]] <= now) row = rows[k++]; \
        while (row >= 0 && end[row] <= now) { \
            T q = parent[row]; \
            if (!BEFORE(q, row)) return -1; \
            row = q; \
        } \
        if (count && row == inner[count - 1]) continue; \
        if (count >= 2 * m - 1) return -1; \
        begin[count] = now; \
        inner[count++] = row; \
    } \
    begin[count] = last; \
    return count; \
}
KERNELS(32, int32_t)
KERNELS(64, int64_t)
