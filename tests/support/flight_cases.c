/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight_cases.c - dumps of the flight recorder from short scripts.
 */
#include "support/flight_cases.h"

static const struct {
	char letter;
	const char *about, *ranks;
} groups[] = {
	{ 'w', "default_pg", "[0, 1, 2, 3]" },
	{ 'a', "tensor", "[0, 1]" },
	{ 'b', "tensor", "[2, 3]" },
	{ 'c', "data", "[0, 1, 2, 3]" },
	{ 'd', "model", "[0, 1, 2, 3]" },
	{ 'u', "undefined", "" },
	{ 'v', "undefined", "" },
};

static const char *group_about(char letter)
{
	for (size_t i = 0; i < SS_COUNT(groups); i++)
		if (groups[i].letter == letter)
			return groups[i].about;
	fail_msg("no group '%c'", letter);
	return "";
}

static const char *state_name(char state)
{
	return state == '+' ? "completed" : state == '*' ? "started" : "scheduled";
}

/* "w1:all_reduce/8F+" */
static const char *add_call(const char *at, int64_t record, struct ss_text *out)
{
	char *end;
	char letter = *at;
	long long sequence = strtoll(at + 1, &end, 10), elements;
	const char *name = end + 1, *slash = strchr(name, '/');
	bool is_pair = strstr(name, "->") == name + 6 || strstr(name, "<-") == name + 6, is_double;

	assert_int_equal(*end, ':');
	elements = strtoll(slash + 1, &end, 10);
	is_double = *end == 'F';
	end += is_double;
	ss_text_addf(out,
		     "{\"record_id\":%lld,\"process_group\":[\"%c\",\"%s\"],"
		     "\"collective_seq_id\":%lld,\"p2p_seq_id\":%lld,\"is_p2p\":%s,"
		     "\"profiling_name\":\"nccl:",
		     (long long)record, letter, group_about(letter), sequence, sequence,
		     is_pair ? "true" : "false");
	for (const char *c = name; c < slash; c++)
		ss_text_add(out, *c == '_' && is_pair ? " " : c, 1);
	ss_text_addf(out,
		     "\",\"input_sizes\":[[%lld]],\"output_sizes\":[[%lld]],\"input_dtypes\":"
		     "[\"%s\"],\"time_created_ns\":%lld,\"state\":\"%s\",\"retired\":%s}",
		     elements, elements, is_double ? "Double" : "Float",
		     (long long)(1700000000000000000 + record * 1000000), state_name(*end),
		     *end == '+' || *end == '!' ? "true" : "false");
	return end + 1;
}

void flight_case_json(const char **script, int64_t *rank, struct ss_text *out)
{
	char *end;
	const char *at;
	int64_t record = 0;
	bool is_first = true;

	*rank = strtoll(*script, &end, 10);
	at = end + strspn(end, " ");
	if (*at == '@') {
		record = strtoll(at + 1, &end, 10);
		at = end + strspn(end, " ");
	}
	ss_text_add_string(out, "{\"comm_lib_version\":\"2.21\",\"entries\":[");
	for (; *at && *at != '|'; at += strspn(at, " ")) {
		ss_text_add_string(out, is_first ? "" : ",");
		at = add_call(at, record++, out);
		is_first = false;
	}
	ss_text_add_string(out, "],\"pg_config\":{");
	is_first = true;
	for (size_t i = 0; i < SS_COUNT(groups); i++) {
		char number[4];

		snprintf(number, sizeof(number), "%d", (int)*rank % 10);
		if (!strstr(groups[i].ranks, number))
			continue;
		ss_text_addf(out, "%s\"%c\":{\"name\":\"%c\",\"desc\":\"%s\",\"ranks\":\"%s\"}",
			     is_first ? "" : ",", groups[i].letter, groups[i].letter,
			     groups[i].about, groups[i].ranks);
		is_first = false;
	}
	ss_text_add_string(out, "},\"version\":\"2.10\"}");
	*script = *at ? at + 1 : at;
}

void flight_case_open(struct flight_case *out, const char *script, const char *stacks)
{
	struct ss_error err = { 0 };
	struct ss_source *source;

	memset(out, 0, sizeof(*out));
	ss_memory_init(&out->memory, 0);
	while (*script) {
		struct ss_text json = { 0 };
		int64_t rank;

		script += strspn(script, " ");
		flight_case_json(&script, &rank, &json);
		assert_int_equal(ss_source_open_memory(json.data, json.length, &out->memory,
						       &source, &err),
				 SS_OK);
		support_check(ss_flight_load(source, &out->memory, &out->flights[out->count],
					     &err) == SS_OK,
			      json.data, "%s", err.text);
		ss_source_close(source);
		ss_text_release(&json);
		out->inputs[out->count] = (struct ss_hang_input){
			.rank = rank, .path = "dump", .flight = &out->flights[out->count]
		};
		out->count++;
	}
	if (stacks) {
		assert_int_equal(ss_source_open_memory(stacks, strlen(stacks), &out->memory,
						       &source, &err),
				 SS_OK);
		support_check(ss_flight_stacks_load(source, &out->memory, &out->stacks, &err) ==
				      SS_OK,
			      stacks, "%s", err.text);
		ss_source_close(source);
		out->inputs[out->count] = (struct ss_hang_input){ .rank = -1,
								  .path = "stacks_1.txt",
								  .stacks = &out->stacks };
	}
	assert_int_equal(ss_hang_make(&out->hang, out->inputs, out->count + (stacks != NULL),
				      &out->memory, &err),
			 SS_OK);
}

void flight_case_close(struct flight_case *flights)
{
	ss_hang_release(&flights->hang);
	for (uint32_t i = 0; i < flights->count; i++)
		ss_flight_release(&flights->flights[i]);
	ss_flight_stacks_release(&flights->stacks);
	assert_int_equal(flights->memory.used_bytes, 0);
}

void flight_case_view(const struct flight_case *flights, const char *name, const char *columns,
		      struct ss_text *out)
{
	uint32_t group;
	const struct ss_view *view = support_view_find(name, &group);
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;
	struct ss_error err = { 0 };

	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, view, &arena);
	assert_int_equal(view->run_hang(&flights->hang, group, &table, &err), SS_OK);
	for (uint32_t i = 0; i < table.row_count; i++) {
		struct ss_text row = { 0 };

		support_table_row(&table, i, columns, &row);
		ss_text_addf(out, "%s\n", row.data);
		ss_text_release(&row);
	}
	for (uint32_t i = 0; i < table.note_count; i++)
		ss_text_addf(out, "note: %s\n", table.notes[i]);
	ss_table_release(&table);
	ss_arena_release(&arena);
	assert_int_equal(memory.used_bytes, 0);
}
