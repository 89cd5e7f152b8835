/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shift.h - the time offset between the recordings of two ranks, found from the ends of
 * their collectives alone.
 *
 * Two ranks leave a collective together. So the difference between the ends of the same
 * collective is the difference of their clocks and always the same; differences of other
 * pairs are scattered. The shift on which most pairs agree is the right one, even if the
 * recordings begin at different collectives or miss some. A shift by a whole step agrees
 * less, because no two steps take exactly the same time.
 */
#ifndef SS_RANKS_SHIFT_H
#define SS_RANKS_SHIFT_H

#include "ranks/digest.h"

/* Collectives of a rank in a group, by end. */
struct ss_visits {
	const struct ss_arrival *arrivals;
	const uint32_t *order; /* indices into arrivals */
	uint32_t count;
};

/* Converts the other's time to the base's: linear, because clocks run at different speeds. */
struct ss_shift {
	int64_t shift_ns;
	int64_t drift_ppb; /* how much more it is for each second after */
	int64_t middle_ns; /* this moment of the other's time */
};

static inline int64_t ss_shift_apply(const struct ss_shift *shift, int64_t moment_ns)
{
	return ss_moment_add(moment_ns, ss_moment_add(shift->shift_ns,
						      ss_drift_after(moment_ns - shift->middle_ns,
								     shift->drift_ppb)));
}

/* The inverse; drifts are so small that their square does not count. */
static inline struct ss_shift ss_shift_inverse(const struct ss_shift *shift)
{
	return (struct ss_shift){ ss_moment_cut(-shift->shift_ns), -shift->drift_ppb,
				  ss_moment_add(shift->middle_ns, shift->shift_ns) };
}

/* Both in sequence: `second` is applied to the result of `first`. */
static inline struct ss_shift ss_shift_then(const struct ss_shift *first,
					    const struct ss_shift *second)
{
	return (struct ss_shift){ ss_shift_apply(second,
						 ss_moment_add(first->middle_ns, first->shift_ns)) -
					  first->middle_ns,
				  first->drift_ppb + second->drift_ppb, first->middle_ns };
}

/*
 * Pairs visits of `other`, moved by `shift`, with those of `base`:
 * partner[i] is the place in base's order of the i-th of other's, or SS_NO_ROW. Two
 * are paired when each is the other's nearest by its end, and they overlap. Returns
 * how many are. `back` has room for base's count.
 */
uint32_t ss_visits_pair(const struct ss_visits *base, const struct ss_visits *other,
			const struct ss_shift *shift, uint32_t *partner, uint32_t *back);

/*
 * Pairs the k-th of each kind with the k-th, in the order of their starts, where both have equally
 * many of each. Returns how many; 0 if the numbers differ or a pair does not overlap: order alone
 * proves nothing.
 */
uint32_t ss_visits_pair_in_order(const struct ss_visits *base, const struct ss_visits *other,
				 const struct ss_shift *shift, uint32_t *partner,
				 struct ss_arena *scratch, bool *failed);

/* Moves the shift to the median difference of the ends of pairs. False: no memory. */
SS_MUST_USE
bool ss_visits_fit(const struct ss_visits *base, const struct ss_visits *other,
		   const uint32_t *partner, struct ss_arena *scratch, struct ss_shift *shift);

/*
 * Finds the shift on which most pairs agree. The `likely` ones are tried first, and the
 * first that explains most is taken. *is_ragged: too few ends agree to tell it from a shift onto
 * neighbours. False: nothing agrees, or no memory (*failed).
 */
bool ss_visits_find_shift(const struct ss_visits *base, const struct ss_visits *other,
			  const struct ss_shift *likely, uint32_t likely_count,
			  struct ss_memory *memory, struct ss_shift *out, bool *is_ragged,
			  bool *failed);

#endif
