/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.c - digests from scripts.
 */
#include "support/make/ranks.h"

#include "base/hash/hash.h"
#include "ranks/digest.h"

void support_ranks_open(struct support_ranks *ranks)
{
	*ranks = (struct support_ranks){ 0 };
	ss_memory_init(&ranks->memory, 0);
}

struct ss_digest *support_ranks_rank(struct support_ranks *ranks, int64_t number, const char *host)
{
	struct ss_digest *rank;

	ranks->items = realloc(ranks->items, (ranks->count + 1) * sizeof(*ranks->items));
	assert_non_null(ranks->items);
	rank = &ranks->items[ranks->count++];
	*rank = (struct ss_digest){ .memory = &ranks->memory,
				    .rank = number,
				    .world_size = -1,
				    .path = "rank.json",
				    .device = 0,
				    .has_clock = true };
	assert_true(ss_strings_init(&rank->texts, &ranks->memory));
	rank->host = ss_strings_add(&rank->texts, host, strlen(host));
	assert_int_not_equal(rank->host, SS_NO_ID);
	return rank;
}

/* Room for one more. */
#define GROW(rank, items, count, capacity)                                                        \
	assert_true(ss_memory_reserve((rank)->memory, (void **)&(rank)->items, &(rank)->capacity, \
				      (size_t)(rank)->count + 1, sizeof(*(rank)->items)))

uint32_t support_rank_group(struct ss_digest *rank, const char *name, const char *members)
{
	struct ss_rank_group group = { .name = ss_strings_add(&rank->texts, name, strlen(name)),
				       .ranks = ss_hash_bytes(members, strlen(members)),
				       .size = -1 };

	for (uint32_t i = 0; i < rank->group_count; i++)
		if (rank->groups[i].name == group.name && rank->groups[i].ranks == group.ranks)
			return i;
	GROW(rank, groups, group_count, group_capacity);
	rank->groups[rank->group_count] = group;
	return rank->group_count++;
}

struct ss_arrival *support_rank_arrive(struct ss_digest *rank, const char *kind, int64_t start_ns,
				       int64_t end_ns)
{
	struct ss_arrival *arrival;

	GROW(rank, arrivals, arrival_count, arrival_capacity);
	arrival = &rank->arrivals[rank->arrival_count++];
	*arrival = (struct ss_arrival){ .start_ns = start_ns,
					.end_ns = end_ns,
					.release_ns = INT64_MIN,
					.sequence = -1,
					.bytes = -1,
					.step = UINT32_MAX,
					.kernel = ss_hash_bytes(kind, strlen(kind)),
					.kind = ss_collective_kind_of(kind) };
	/* the kernel of all of them is SendRecv */
	if (arrival->kind >= SS_COLLECTIVE_SEND_RECV)
		arrival->kernel = ss_hash_bytes("sendrecv", 8);
	return arrival;
}

void support_rank_own(struct ss_digest *rank, const int64_t own_ns[SS_OWN_PARTS])
{
	assert_true(ss_digest_set_own(rank, rank->arrival_count - 1, own_ns));
}

struct ss_rank_step *support_rank_step(struct ss_digest *rank, uint32_t number, int64_t start_ns,
				       int64_t end_ns)
{
	GROW(rank, steps, step_count, step_capacity);
	rank->steps[rank->step_count] =
		(struct ss_rank_step){ .number = number, .start_ns = start_ns, .end_ns = end_ns };
	return &rank->steps[rank->step_count++];
}

void support_rank_kernel(struct ss_digest *rank, const char *name, int64_t calls, int64_t total_ns)
{
	GROW(rank, kernels, kernel_count, kernel_capacity);
	rank->kernels[rank->kernel_count++] =
		(struct ss_rank_kernel){ .name = ss_strings_add(&rank->texts, name, strlen(name)),
					 .calls = calls,
					 .total_ns = total_ns };
}

/* --- scripts ------------------------------------------------------------------------- */

struct reading {
	struct support_ranks *ranks;
	struct ss_digest *rank; /* the one that statements are about */
	uint32_t group;
	double ahead_us, ppm;
	int64_t zero_ns;
};

static int64_t ns_of(double us)
{
	return (int64_t)(us * 1000 + (us < 0 ? -0.5 : 0.5));
}

/* From the true time to the rank's own. */
static int64_t moment(const struct reading *reading, double us)
{
	return reading->zero_ns + ns_of(us + reading->ahead_us + us * reading->ppm / 1e6);
}

static void read_rank(struct reading *reading, const char *at)
{
	char host[64] = "", word[64];
	int used = 0;
	long long number;
	uint64_t first_step = 0;

	reading->ahead_us = reading->ppm = 0;
	reading->zero_ns = SUPPORT_CLOCK_NS;
	if (sscanf(at, " rank %lld%n", &number, &used) != 1)
		fail_msg("cannot read script at '%s'", at);
	for (at += used; sscanf(at, " %63s%n", word, &used) == 1; at += used)
		if (word[0] == '@')
			snprintf(host, sizeof(host), "%s", word + 1);
		else if (word[0] == '>')
			reading->ahead_us = strtod(word + 1, NULL);
		else if (word[0] == '~')
			reading->ppm = strtod(word + 1, NULL);
		else if (word[0] == '#')
			first_step = strtoull(word + 1, NULL, 10);
		else if (strcmp(word, "noclock") == 0)
			reading->zero_ns = 0;
		else
			fail_msg("cannot read script at '%s'", at);
	reading->rank = support_ranks_rank(reading->ranks, number, host);
	reading->rank->has_clock = reading->zero_ns != 0;
	reading->rank->first_step = first_step;
	reading->group = UINT32_MAX;
}

static void read_group(struct reading *reading, const char *at)
{
	char name[64], members[128] = "";

	if (sscanf(at, " group %63s %127s", name, members) < 1)
		fail_msg("cannot read script at '%s'", at);
	reading->group = support_rank_group(reading->rank, strcmp(name, "-") == 0 ? "" : name,
					    members);
}

/* The part that a letter stands for, in an arrival and in a step; NULL: no such letter. */
static int64_t *part_of(char letter, struct ss_whole_arrival *whole, struct ss_rank_step *step)
{
	switch (letter) {
	case 'c':
		return whole ? &whole->own_ns[SS_OWN_COMPUTE] : &step->compute_ns;
	case 'm':
		return whole ? &whole->own_ns[SS_OWN_COMM] : &step->comm_ns;
	case 'x':
		return whole ? NULL : &step->exposed_comm_ns;
	case 'y':
		return whole ? &whole->own_ns[SS_OWN_COPY] : &step->exposed_copy_ns;
	case 'i':
		return whole ? &whole->own_ns[SS_OWN_IDLE_BY(SS_IDLE_INPUT)]
			     : &step->idle_ns[SS_IDLE_INPUT];
	case 'l':
		return whole ? &whole->own_ns[SS_OWN_IDLE_BY(SS_IDLE_LAUNCH)]
			     : &step->idle_ns[SS_IDLE_LAUNCH];
	default:
		return NULL;
	}
}

/* What stands behind the times of an arrival or a step. */
static void read_parts(const char *at, struct ss_whole_arrival *whole, struct ss_rank_step *step)
{
	struct ss_arrival *arrival = whole ? &whole->arrival : NULL;
	char word[64];
	int used = 0;

	for (; sscanf(at, " %63s%n", word, &used) == 1; at += used) {
		int64_t *part = part_of(word[0], whole, step);
		double value = strtod(word + 1, NULL);

		if (part)
			*part = ns_of(value);
		else if (arrival && word[0] == '=')
			arrival->sequence = (int64_t)value;
		else if (arrival && word[0] == '*')
			arrival->shape = (uint64_t)value;
		else if (arrival && word[0] == '!')
			arrival->bytes = (int64_t)value;
		else if (arrival && word[0] == '^')
			arrival->track = (uint32_t)value;
		else
			fail_msg("cannot read script at '%s'", at);
	}
	if (step)
		step->overlap_ns = step->comm_ns - step->exposed_comm_ns;
}

static void read_statement(struct reading *reading, const char *at)
{
	char word[64] = "", name[64];
	double start, dur;
	long long number;
	int used = 0;

	if (sscanf(at, " %63s", word) != 1)
		return;
	if (strcmp(word, "rank") == 0) {
		read_rank(reading, at);
	} else if (strcmp(word, "group") == 0) {
		read_group(reading, at);
	} else if (strcmp(word, "kernel") == 0 &&
		   sscanf(at, " kernel %63s %lld %lf", name, &number, &dur) == 3) {
		support_rank_kernel(reading->rank, name, number, ns_of(dur));
	} else if (strcmp(word, "step") == 0 &&
		   sscanf(at, " step %lld %lf +%lf%n", &number, &start, &dur, &used) == 3) {
		read_parts(at + used, NULL,
			   support_rank_step(reading->rank, (uint32_t)number,
					     moment(reading, start), moment(reading, start + dur)));
	} else if (sscanf(at, " %63s %lf +%lf%n", word, &start, &dur, &used) == 3) {
		struct ss_whole_arrival whole = { 0 };
		struct ss_arrival *arrival;

		if (reading->group == UINT32_MAX)
			reading->group = support_rank_group(reading->rank, "0", "");
		arrival = support_rank_arrive(reading->rank, word, moment(reading, start),
					      moment(reading, start + dur));
		arrival->group = reading->group;
		whole.arrival = *arrival;
		read_parts(at + used, &whole, NULL);
		*arrival = whole.arrival;
		support_rank_own(reading->rank, whole.own_ns);
	} else {
		fail_msg("cannot read script at '%s'", at);
	}
}

void support_ranks_add(struct support_ranks *ranks, const char *script)
{
	struct reading reading = { .ranks = ranks };

	while (*script) {
		char statement[256];
		size_t length = strcspn(script, ";");

		assert_true(length < sizeof(statement));
		memcpy(statement, script, length);
		statement[length] = '\0';
		read_statement(&reading, statement);
		script += length + (script[length] == ';');
	}
}

/* --- joined --------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct ss_arrival *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

static int by_name(const void *a, const void *b)
{
	const struct ss_rank_kernel *x = a, *y = b;

	return x->name < y->name ? -1 : x->name > y->name;
}

/* Kernels by name; arrivals by start, in their steps; what is around all of them. */
static void arrange(struct ss_digest *rank)
{
	uint32_t step = 0;

	if (rank->kernel_count)
		qsort(rank->kernels, rank->kernel_count, sizeof(*rank->kernels), by_name);
	if (rank->arrival_count)
		qsort(rank->arrivals, rank->arrival_count, sizeof(*rank->arrivals), by_start);
	for (uint32_t i = 0; i < rank->arrival_count; i++) {
		struct ss_arrival *arrival = &rank->arrivals[i];

		while (step < rank->step_count && rank->steps[step].end_ns <= arrival->start_ns)
			step++;
		if (step < rank->step_count && rank->steps[step].start_ns <= arrival->start_ns)
			arrival->step = rank->steps[step].number;
	}
	if (rank->arrival_count) {
		rank->start_ns = rank->arrivals[0].start_ns;
		rank->end_ns = rank->arrivals[rank->arrival_count - 1].end_ns;
	}
}

void support_ranks_join(struct support_ranks *ranks)
{
	struct ss_error err = { 0 };
	enum ss_status status;

	for (uint32_t r = 0; r < ranks->count; r++)
		arrange(&ranks->items[r]);
	status = ss_join_ranks(&ranks->joined, ranks->items, ranks->count, &ranks->memory, &err);
	support_check(status == SS_OK, "ranks are joined", "%s", err.text);
	ranks->is_joined = true;
}

void support_ranks_close(struct support_ranks *ranks)
{
	if (ranks->is_joined)
		ss_joined_release(&ranks->joined);
	for (uint32_t r = 0; r < ranks->count; r++)
		ss_digest_release(&ranks->items[r]);
	free(ranks->items);
	support_check(ranks->memory.used_bytes == 0, "closed ranks hold no memory",
		      "%zu bytes are left", (size_t)ranks->memory.used_bytes);
}

void support_ranks_script(struct support_ranks *ranks, const char *script)
{
	support_ranks_open(ranks);
	support_ranks_add(ranks, script);
	support_ranks_join(ranks);
}

void support_ranks_meetings(const struct support_ranks *ranks, struct ss_text *out)
{
	const struct ss_joined *joined = &ranks->joined;

	ss_text_add_string(out, "");
	for (uint32_t i = 0; i < joined->collective_count; i++) {
		const struct ss_collective *collective = &joined->collectives[i];

		ss_text_addf(out, "%s%s", i ? "; " : "", ss_collective_kind_name(collective->kind));
		for (uint32_t k = 0; k < collective->count; k++) {
			const struct ss_member *member = &joined->members[collective->first + k];

			ss_text_addf(out, " %lld:%u", (long long)ranks->items[member->rank].rank,
				     member->arrival);
		}
	}
}
