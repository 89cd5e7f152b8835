/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's groups: who meets whom, for every shape of a small job.
 */
#include "sim/plan.h"
#include "support/support.h"

static const struct {
	uint32_t data, tensor, pipe;
} shapes[] = {
	{ 1, 1, 1 }, { 2, 1, 1 },  { 8, 1, 1 },  { 9, 1, 1 },  { 1, 2, 1 }, { 1, 8, 1 },
	{ 4, 4, 1 }, { 3, 5, 1 },  { 1, 1, 2 },  { 1, 1, 4 },  { 2, 1, 4 }, { 5, 1, 3 },
	{ 1, 4, 4 }, { 2, 2, 2 },  { 3, 2, 5 },  { 2, 8, 2 },  { 7, 1, 2 }, { 1, 3, 7 },
	{ 4, 8, 2 }, { 33, 1, 1 }, { 1, 1, 16 }, { 12, 2, 1 },
};

static struct ss_sim_plan plan_of(size_t shape)
{
	return (struct ss_sim_plan){
		.rank_count = shapes[shape].data * shapes[shape].tensor * shapes[shape].pipe,
		.host_ranks = 8,
		.tensor = shapes[shape].tensor,
		.pipe = shapes[shape].pipe,
	};
}

static bool has(const struct ss_sim_ranks *ranks, uint32_t rank)
{
	for (uint32_t i = 0; i < ranks->count; i++)
		if (ranks->first + i * ranks->stride == rank)
			return true;
	return false;
}

static bool same(const struct ss_sim_ranks *a, const struct ss_sim_ranks *b)
{
	for (uint32_t i = 0; i < a->count; i++)
		if (!has(b, a->first + i * a->stride))
			return false;
	return a->count == b->count;
}

static const char *say(size_t shape, uint32_t rank)
{
	static char text[96];

	snprintf(text, sizeof(text), "data %u, tensor %u, pipe %u: rank %u", shapes[shape].data,
		 shapes[shape].tensor, shapes[shape].pipe, rank);
	return text;
}

/* Does the rank have somebody to meet in this role? */
static bool plays(const struct ss_sim_plan *plan, uint32_t rank, enum ss_sim_group_role role)
{
	struct ss_sim_place at = ss_sim_place_of(plan, rank);

	switch (role) {
	case SS_SIM_GROUP_DATA:
		return ss_sim_data_count(plan) > 1;
	case SS_SIM_GROUP_TENSOR:
		return plan->tensor > 1;
	case SS_SIM_GROUP_NEXT:
		return at.stage + 1 < plan->pipe;
	case SS_SIM_GROUP_BACK:
		return at.stage > 0;
	default:
		return true;
	}
}

/* Is the other rank one of those that this rank meets in the role? From the places alone. */
static bool meets(const struct ss_sim_plan *plan, uint32_t rank, uint32_t other,
		  enum ss_sim_group_role role)
{
	struct ss_sim_place a = ss_sim_place_of(plan, rank), b = ss_sim_place_of(plan, other);
	bool stage = a.stage == b.stage, data = a.data == b.data, tensor = a.tensor == b.tensor;

	switch (role) {
	case SS_SIM_GROUP_DATA:
		return stage && tensor;
	case SS_SIM_GROUP_TENSOR:
		return stage && data;
	case SS_SIM_GROUP_NEXT:
		return data && tensor && (stage || b.stage == a.stage + 1);
	case SS_SIM_GROUP_BACK:
		return data && tensor && (stage || b.stage + 1 == a.stage);
	default:
		return true;
	}
}

static void test_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(shapes); i++) {
		struct ss_sim_plan plan = plan_of(i);

		assert_int_equal(ss_sim_data_count(&plan), shapes[i].data);
		for (uint32_t rank = 0; rank < plan.rank_count; rank++) {
			struct ss_sim_place at = ss_sim_place_of(&plan, rank);

			support_check(at.data < shapes[i].data && at.stage < plan.pipe &&
					      at.tensor < plan.tensor,
				      say(i, rank), "lies outside of the grid");
			support_check((at.stage * shapes[i].data + at.data) * plan.tensor +
						      at.tensor ==
					      rank,
				      say(i, rank), "stage %u, data %u, tensor %u", at.stage,
				      at.data, at.tensor);
		}
	}
}

/* What a rank's own list says of its groups. */
static void check_list(size_t shape, const struct ss_sim_plan *plan, uint32_t rank)
{
	struct ss_sim_group groups[SS_SIM_RANK_GROUPS_MAX];
	uint32_t count = ss_sim_groups_of(plan, rank, groups);

	support_check(count >= 1 && count <= SS_SIM_RANK_GROUPS_MAX, say(shape, rank), "%u groups",
		      count);
	assert_string_equal(groups[0].description, "default_pg");
	assert_int_equal(groups[0].ranks.count, plan->rank_count);
	for (uint32_t i = 0; i < count; i++) {
		support_check(has(&groups[i].ranks, rank), say(shape, rank),
			      "is not in its group %u", groups[i].id);
		support_check(!i || groups[i].id > groups[i ? i - 1 : 0].id, say(shape, rank),
			      "group %u is not in order", groups[i].id);
		support_check(groups[i].description && *groups[i].description, say(shape, rank),
			      "group %u has no description", groups[i].id);
	}
}

/* A role's group is one of the list, and holds whom the rank meets. */
static void check_role(size_t shape, const struct ss_sim_plan *plan, uint32_t rank,
		       enum ss_sim_group_role role)
{
	struct ss_sim_group groups[SS_SIM_RANK_GROUPS_MAX];
	uint32_t count = ss_sim_groups_of(plan, rank, groups), listed = 0;
	struct ss_sim_group group = ss_sim_group_of(plan, rank, role);
	bool pair = role == SS_SIM_GROUP_NEXT || role == SS_SIM_GROUP_BACK;

	for (uint32_t i = 0; i < count; i++)
		listed += groups[i].id == group.id && same(&groups[i].ranks, &group.ranks);
	support_check(listed == 1, say(shape, rank), "role %d: group %u is listed %u times", role,
		      group.id, listed);
	for (uint32_t other = 0; other < plan->rank_count; other++) {
		bool expected = meets(plan, rank, other, role);

		if (pair && has(&group.ranks, other) && !expected)
			continue; /* a stage farther away, in the same pipeline */
		support_check(has(&group.ranks, other) == expected, say(shape, rank),
			      "role %d, rank %u in group %u: %d", role, other, group.id, !expected);
	}
	if (pair)
		assert_int_equal(group.ranks.count, plan->pipe);
}

static void test_groups(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(shapes); i++) {
		struct ss_sim_plan plan = plan_of(i);

		for (uint32_t rank = 0; rank < plan.rank_count; rank++) {
			check_list(i, &plan, rank);
			for (int role = 0; role < SS_SIM_GROUP_ROLES; role++)
				if (plays(&plan, rank, (enum ss_sim_group_role)role))
					check_role(i, &plan, rank, (enum ss_sim_group_role)role);
		}
	}
}

#define IDS_MAX 2048u

static void check_known(size_t shape, uint32_t rank, const struct ss_sim_group *group,
			struct ss_sim_group *seen)
{
	struct ss_sim_group *first = &seen[group->id];

	if (!first->description)
		*first = *group;
	support_check(same(&first->ranks, &group->ranks) &&
			      strcmp(first->description, group->description) == 0,
		      say(shape, rank), "group %u is another one for others", group->id);
}

/* A number means the same group for everybody, and no group has two numbers. */
static void test_ids(void **state)
{
	struct ss_sim_group *seen = calloc(IDS_MAX, sizeof(*seen));

	(void)state;
	assert_non_null(seen);
	for (size_t i = 0; i < SS_COUNT(shapes); i++) {
		struct ss_sim_plan plan = plan_of(i);

		memset(seen, 0, IDS_MAX * sizeof(*seen));
		for (uint32_t rank = 0; rank < plan.rank_count; rank++) {
			struct ss_sim_group groups[SS_SIM_RANK_GROUPS_MAX];
			uint32_t count = ss_sim_groups_of(&plan, rank, groups);

			for (uint32_t g = 0; g < count; g++) {
				assert_true(groups[g].id < IDS_MAX);
				check_known(i, rank, &groups[g], seen);
			}
		}
		for (uint32_t a = 0; a < IDS_MAX; a++)
			for (uint32_t b = a + 1; seen[a].description && b < IDS_MAX; b++)
				support_check(!seen[b].description ||
						      strcmp(seen[a].description,
							     seen[b].description) ||
						      !same(&seen[a].ranks, &seen[b].ranks),
					      say(i, 0), "groups %u and %u are the same", a, b);
	}
	free(seen);
}

/* A channel is whom the rank meets; each of them says the same of it. */
static void check_channel(size_t shape, const struct ss_sim_plan *plan, uint32_t rank,
			  enum ss_sim_group_role role)
{
	uint32_t channel = ss_sim_channel_of(plan, rank, role);
	enum ss_sim_group_role back = role == SS_SIM_GROUP_NEXT   ? SS_SIM_GROUP_BACK
				      : role == SS_SIM_GROUP_BACK ? SS_SIM_GROUP_NEXT
								  : role;
	struct ss_sim_ranks ranks;

	support_check(channel < ss_sim_channel_count(plan), say(shape, rank), "role %d: channel %u",
		      role, channel);
	ranks = ss_sim_channel_ranks(plan, channel);
	for (uint32_t other = 0; other < plan->rank_count; other++) {
		support_check(has(&ranks, other) == meets(plan, rank, other, role),
			      say(shape, rank), "role %d, channel %u: rank %u is in it: %d", role,
			      channel, other, has(&ranks, other));
		if (!has(&ranks, other))
			continue;
		support_check(ss_sim_channel_of(plan, other, other == rank ? role : back) ==
				      channel,
			      say(shape, rank), "role %d: rank %u meets in another channel", role,
			      other);
	}
	if (back != role)
		assert_int_equal(ranks.count, 2);
}

static void test_channels(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(shapes); i++) {
		struct ss_sim_plan plan = plan_of(i);

		for (uint32_t rank = 0; rank < plan.rank_count; rank++)
			for (int role = 0; role < SS_SIM_GROUP_ROLES; role++)
				if (plays(&plan, rank, (enum ss_sim_group_role)role))
					check_channel(i, &plan, rank, (enum ss_sim_group_role)role);
	}
}

/* Every number below the count is a channel of ranks that exist, met once a role. */
static void test_channel_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(shapes); i++) {
		struct ss_sim_plan plan = plan_of(i);

		for (uint32_t channel = 0; channel < ss_sim_channel_count(&plan); channel++) {
			struct ss_sim_ranks ranks = ss_sim_channel_ranks(&plan, channel);

			assert_true(ranks.count >= 1 && (ranks.stride >= 1 || ranks.count == 1));
			support_check(ranks.first + (ranks.count - 1) * ranks.stride <
					      plan.rank_count,
				      say(i, ranks.first), "channel %u: %u ranks, %u apart",
				      channel, ranks.count, ranks.stride);
		}
	}
}

/* Different collectives never share a channel: their collectives would be mixed up. */
static void test_channels_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(shapes); i++) {
		struct ss_sim_plan plan = plan_of(i);

		for (uint32_t rank = 0; rank < plan.rank_count; rank++)
			for (int a = 0; a < SS_SIM_GROUP_ROLES; a++)
				for (int b = a + 1; b < SS_SIM_GROUP_ROLES; b++) {
					enum ss_sim_group_role one = (enum ss_sim_group_role)a,
							       two = (enum ss_sim_group_role)b;

					if (!plays(&plan, rank, one) || !plays(&plan, rank, two) ||
					    ss_sim_group_of(&plan, rank, one).id ==
						    ss_sim_group_of(&plan, rank, two).id)
						continue;
					support_check(ss_sim_channel_of(&plan, rank, one) !=
							      ss_sim_channel_of(&plan, rank, two),
						      say(i, rank), "roles %d and %d share one", a,
						      b);
				}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_channels),
		cmocka_unit_test(test_channel_numbers),
		cmocka_unit_test(test_channels_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
