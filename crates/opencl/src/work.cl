// Looks for nonces whose value is at least a threshold, one nonce for each work item.
//
// The value is Blake2b of 8 bytes of nonce and 32 bytes of root. Left out are what is the same for all
// nonces of a root (most of the first round, which `first_round.rs` does), the message words that are
// zero, and what the last round does not pass on to the digest.
//
// Macros throughout: there are drivers whose compilers do not take `static inline` functions.

#define IV0 0x6a09e667f3bcc908UL
#define IV4 0x510e527fade682d1UL
#define H0 (IV0 ^ 0x01010008UL)

// ROTATE(word, bits) rotates to the right by 24 or 16 bits, SWAP(word) by 32, and ROTATE_63(word) by 63.
#ifdef cl_amd_media_ops
#pragma OPENCL EXTENSION cl_amd_media_ops : enable
#define ROTATE_IN_HALVES
#define ALIGN(high, low, bits) amd_bitalign(high, low, bits)
#else
#define ALIGN(high, low, bits) ((low) >> (bits) | (high) << (32 - (bits)))
#endif

#ifdef ROTATE_IN_HALVES
#define JOIN(high, low, bits) as_ulong((uint2)(ALIGN(high, low, bits), ALIGN(low, high, bits)))
#define SWAP(word) as_ulong(as_uint2(word).yx)
#define ROTATE(word, bits) JOIN(as_uint2(word).y, as_uint2(word).x, bits)
#define ROTATE_63(word) JOIN(as_uint2(word).x, as_uint2(word).y, 31U)
#else
#define SWAP(word) rotate(word, 32UL)
#define ROTATE(word, bits) rotate(word, 64UL - (bits))
#define ROTATE_63(word) rotate(word, 1UL)
#endif

// A quarter of a round. The message word is added first, since b comes late.
#define FIRST_HALF(a, b, c, d, x) \
    a = a + (x) + b;              \
    d ^= a;                       \
    d = SWAP(d);                  \
    c += d;                       \
    b ^= c;                       \
    b = ROTATE(b, 24U);

#define SECOND_HALF(a, b, c, d, y) \
    a = a + (y) + b;               \
    d ^= a;                        \
    d = ROTATE(d, 16U);            \
    c += d;                        \
    b ^= c;                        \
    b = ROTATE_63(b);

#define QUARTER(a, b, c, d, x, y) \
    FIRST_HALF(a, b, c, d, x)     \
    SECOND_HALF(a, b, c, d, y)

#define COLUMNS(x0, y0, x1, y1, x2, y2, x3, y3) \
    QUARTER(v0, v4, v8, v12, x0, y0)            \
    QUARTER(v1, v5, v9, v13, x1, y1)            \
    QUARTER(v2, v6, v10, v14, x2, y2)           \
    QUARTER(v3, v7, v11, v15, x3, y3)

#define DIAGONALS(x4, y4, x5, y5, x6, y6, x7, y7) \
    QUARTER(v0, v5, v10, v15, x4, y4)             \
    QUARTER(v1, v6, v11, v12, x5, y5)             \
    QUARTER(v2, v7, v8, v13, x6, y6)              \
    QUARTER(v3, v4, v9, v14, x7, y7)

// `first` is what `first_round.rs` says. `count` counts the hits of the launch, and `hits` has the first
// CAPACITY of them in any order.
__kernel void search(__constant const ulong *first, volatile __global uint *count, __global ulong *hits,
                     const ulong threshold, const ulong start)
{
    const ulong nonce = start + get_global_id(0);
    const ulong m0 = nonce, m1 = first[0], m2 = first[1], m3 = first[2], m4 = first[3];

    // Round 0: the first column, and the diagonals from where the nonce comes in.
    ulong v0 = H0, v4 = IV4, v8 = IV0, v12 = IV4 ^ 40UL;
    QUARTER(v0, v4, v8, v12, m0, m1)
    ulong v3 = first[4], v5 = first[5], v6 = first[6], v7 = first[7], v9 = first[8];
    ulong v10 = first[9], v11 = first[10], v14 = first[11], v15 = first[12];
    ulong v1 = first[13], v2 = first[14], v13 = first[15];
    QUARTER(v0, v5, v10, v15, 0, 0)
    v12 = SWAP(v12 ^ v1);
    v11 += v12;
    v6 = ROTATE(v6 ^ v11, 24U);
    SECOND_HALF(v1, v6, v11, v12, 0)
    v8 += v13;
    v7 = ROTATE(v7 ^ v8, 24U);
    SECOND_HALF(v2, v7, v8, v13, 0)
    QUARTER(v3, v4, v9, v14, 0, 0)

    COLUMNS(0, 0, m4, 0, 0, 0, 0, 0) // round 1
    DIAGONALS(m1, 0, m0, m2, 0, 0, 0, m3)
    COLUMNS(0, 0, 0, m0, 0, m2, 0, 0)
    DIAGONALS(0, 0, m3, 0, 0, m1, 0, m4)
    COLUMNS(0, 0, m3, m1, 0, 0, 0, 0)
    DIAGONALS(m2, 0, 0, 0, m4, m0, 0, 0)
    COLUMNS(0, m0, 0, 0, m2, m4, 0, 0)
    DIAGONALS(0, m1, 0, 0, 0, 0, m3, 0)
    COLUMNS(m2, 0, 0, 0, m0, 0, 0, m3)
    DIAGONALS(m4, 0, 0, 0, 0, 0, m1, 0)
    COLUMNS(0, 0, m1, 0, 0, 0, m4, 0)
    DIAGONALS(m0, 0, 0, m3, 0, m2, 0, 0)
    COLUMNS(0, 0, 0, 0, 0, m1, m3, 0)
    DIAGONALS(0, m0, 0, m4, 0, 0, m2, 0)
    COLUMNS(0, 0, 0, 0, 0, m3, m0, 0)
    DIAGONALS(0, m2, 0, 0, m1, m4, 0, 0)
    COLUMNS(0, m2, 0, m4, 0, 0, m1, 0)
    DIAGONALS(0, 0, 0, 0, m3, 0, 0, m0)
    COLUMNS(m0, m1, m2, m3, m4, 0, 0, 0) // round 10
    DIAGONALS(0, 0, 0, 0, 0, 0, 0, 0)

    // Round 11: the columns, then the diagonal of v0 and that of v8.
    COLUMNS(0, 0, m4, 0, 0, 0, 0, 0)
    QUARTER(v0, v5, v10, v15, m1, 0)
    QUARTER(v2, v7, v8, v13, 0, 0)

    if ((H0 ^ v0 ^ v8) >= threshold) {
        const uint place = atomic_inc(count);
        if (place < CAPACITY)
            hits[place] = nonce;
    }
}
