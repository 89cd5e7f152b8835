/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_summary.c - makes the summary of a rank (graph and findings) and of a snapshot (findings),
 * on the thread that loaded it, and writes that of a rank as part of a digest file.
 *
 * Writer and reader of the digest share the declaration. What follows from the rest is not in the
 * file: starts as far as edges explain them (starts.h), delays (ss_replay_graph_find_delays()),
 * and who owns a task (ss_rank_findings_reset()).
 */
#include "diagnose/rank_summary.h"

#include <string.h>

#include "base/hash/hash.h"
#include "base/text.h"
#include "diagnose/summary/starts.h"
#include "trace/digest/fields.h"

/* --- digest files --------------------------------------------------------------------- */

struct wide_task {
	struct ss_task own;
	uint32_t name;
};

/* A rank whose graph is not packed, with its tasks and edges as they are written. */
struct wide_rank {
	struct ss_graph graph;
	struct wide_task *tasks;
	struct ss_edge *edges;
	uint32_t task_room, edge_room;
	struct ss_rank_findings findings;
	uint64_t file_bytes;
};

#define IN_SUMMARY(member) offsetof(struct wide_rank, member)
#define SUMMARY(member, ...) SS_FIELD(struct wide_rank, member, __VA_ARGS__)

static const struct ss_field summary_fields[] = {
	SUMMARY(file_bytes, SS_FIELD_U64),
	SUMMARY(graph.main, SS_FIELD_U32),
	SS_FIELD_ARRAY(struct wide_rank, graph.edges_of, SS_EDGE_KINDS, SS_FIELD_U32),
	SUMMARY(findings.step_count, SS_FIELD_U32),
};

#define TASK(member, ...)                                                                      \
	{                                                                                      \
		.name = #member, .offset = offsetof(struct wide_task, own.member), .count = 1, \
		.type = __VA_ARGS__                                                            \
	}
#define TASK_BEFORE(member) SS_BEFORE(struct wide_task, own.member)

static const struct ss_field task_fields[] = {
	TASK(kind, SS_FIELD_U8, .limit = SS_TASK_KINDS),
	TASK(phase, SS_FIELD_U8, .limit = SS_PHASE_COUNT),
	TASK(step, SS_FIELD_U16, TASK_BEFORE(step), .below = IN_SUMMARY(graph.step_count),
	     .or_none = true),
	TASK(track, SS_FIELD_U32, TASK_BEFORE(track)),
	SS_FIELD(struct wide_task, name, SS_FIELD_U32, .below = IN_SUMMARY(graph.names.count)),
	TASK(row, SS_FIELD_U32, TASK_BEFORE(row)),
	TASK(edges, SS_FIELD_U32, TASK_BEFORE(edges)),
	TASK(own_ns, SS_FIELD_I64, .range = SS_RANGE_SPAN),
	/* the delay after what its edges require: starts.h */
	TASK(start_ns, SS_FIELD_I64, .range = SS_RANGE_SHORT),
};

static const struct ss_field edge_fields[] = {
	SS_FIELD(struct ss_edge, kind, SS_FIELD_U8, .limit = SS_EDGE_KINDS),
	SS_FIELD(struct ss_edge, from_start, SS_FIELD_BOOL),
	SS_FIELD(struct ss_edge, from, SS_FIELD_U32, SS_ALIKE(struct ss_edge, kind),
		 .below = IN_SUMMARY(graph.task_count)),
	SS_FIELD(struct ss_edge, lag_ns, SS_FIELD_I64, .range = SS_RANGE_SHORT),
};

static const struct ss_field step_fields[] = {
	SS_FIELD(struct ss_graph_step, start_ns, SS_FIELD_I64,
		 SS_BEFORE(struct ss_graph_step, start_ns), .range = SS_RANGE_SHORT),
	SS_FIELD(struct ss_graph_step, end_ns, SS_FIELD_I64,
		 SS_ITEM(struct ss_graph_step, start_ns), .range = SS_RANGE_SHORT),
};

static const struct ss_field comm_fields[] = {
	SS_FIELD(struct ss_graph_comm, row, SS_FIELD_U32, SS_BEFORE(struct ss_graph_comm, row)),
	SS_FIELD(struct ss_graph_comm, task, SS_FIELD_U32, SS_BEFORE(struct ss_graph_comm, task),
		 .below = IN_SUMMARY(graph.task_count)),
};

#define CLAIM(member, ...) SS_FIELD(struct ss_claim, member, __VA_ARGS__)

static const struct ss_field claim_fields[] = {
	CLAIM(task, SS_FIELD_U32, SS_BEFORE(struct ss_claim, task),
	      .below = IN_SUMMARY(graph.task_count)),
	CLAIM(flags, SS_FIELD_U8, .limit = SS_CLAIM_FLAGS),
	CLAIM(with, SS_FIELD_U8),
	CLAIM(own_ns, SS_FIELD_I64, .range = SS_RANGE_SPAN),
	CLAIM(low_ns, SS_FIELD_I64, SS_ITEM(struct ss_claim, own_ns), .range = SS_RANGE_SPAN),
	CLAIM(high_ns, SS_FIELD_I64, SS_ITEM(struct ss_claim, own_ns), .range = SS_RANGE_SPAN),
};

static const struct ss_field fact_fields[] = {
	SS_FIELD(struct ss_found_fact, text, SS_FIELD_U32,
		 .below = IN_SUMMARY(findings.texts.count)),
	SS_FIELD(struct ss_found_fact, line, SS_FIELD_U32,
		 .below = IN_SUMMARY(findings.texts.count)),
	SS_FIELD(struct ss_found_fact, weight_ns, SS_FIELD_I64, .range = SS_RANGE_SHORT),
	SS_FIELD(struct ss_found_fact, count, SS_FIELD_F64),
};

#define PART(member, ...) SS_FIELD(struct ss_found_part, member, __VA_ARGS__)

static const struct ss_field part_fields[] = {
	PART(claim_from, SS_FIELD_U32),
	PART(claim_to, SS_FIELD_U32),
	PART(fact_from, SS_FIELD_U32),
	PART(fact_to, SS_FIELD_U32),
	PART(is_sure, SS_FIELD_BOOL),
	PART(confidence, SS_FIELD_U32, .limit = SS_CONFIDENCE_HIGH + 1),
	PART(reason, SS_FIELD_U32, .below = IN_SUMMARY(findings.texts.count)),
	PART(fix, SS_FIELD_WORD),
	PART(warn_share, SS_FIELD_F64),
	PART(silent_share, SS_FIELD_F64),
};

static const struct ss_field figure_fields[] = {
	SS_FIELD(struct ss_found_figure, slot, SS_FIELD_U32),
	SS_FIELD(struct ss_found_figure, value, SS_FIELD_F64),
};

/* A list `items_` of `one`, counted in one_count. */
#define LIST(list, items_, one, capacity_at, type, list_fields, more)                        \
	{                                                                                    \
		.name = list, .items = IN_SUMMARY(items_), .count = IN_SUMMARY(one##_count), \
		.capacity = capacity_at, .item_bytes = sizeof(type), .fields = list_fields,  \
		.field_count = SS_COUNT(list_fields), .spare = more                          \
	}

static const struct ss_field_list lists[] = {
	LIST("graph-steps", graph.steps, graph.step, 0, struct ss_graph_step, step_fields, 0),
	LIST("tasks", tasks, graph.task, IN_SUMMARY(task_room), struct wide_task, task_fields, 1),
	LIST("edges", edges, graph.edge, IN_SUMMARY(edge_room), struct ss_edge, edge_fields, 0),
	LIST("comms", graph.comms, graph.comm, IN_SUMMARY(graph.comm_capacity),
	     struct ss_graph_comm, comm_fields, 0),
	LIST("claims", findings.claims, findings.claim, IN_SUMMARY(findings.claim_capacity),
	     struct ss_claim, claim_fields, 0),
	LIST("facts", findings.facts, findings.fact, IN_SUMMARY(findings.fact_capacity),
	     struct ss_found_fact, fact_fields, 0),
	LIST("figures", findings.figures, findings.figure, IN_SUMMARY(findings.figure_capacity),
	     struct ss_found_figure, figure_fields, 0),
	LIST("parts", findings.parts, findings.part, 0, struct ss_found_part, part_fields, 1),
};

/* Words of the parts follow the texts of the findings. */
static const size_t texts[] = { IN_SUMMARY(findings.texts), IN_SUMMARY(graph.names) };

static const struct ss_field_layout layout = {
	.fields = summary_fields,
	.field_count = SS_COUNT(summary_fields),
	.texts = texts,
	.text_count = SS_COUNT(texts),
	.lists = lists,
	.list_count = SS_COUNT(lists),
};

/* A different number if the declaration, the list of rules or what a rule may keep changes. */
static uint64_t summary_layout(void)
{
	uint64_t hash = ss_hash_mix(ss_fields_hash(SS_HASH_SEED, &layout), SS_RULE_FIGURES);

	/* parts are numbered as the rules are */
	for (uint32_t i = 0; i < ss_rule_count; i++)
		hash = ss_hash_mix(hash,
				   ss_hash_bytes(ss_rules[i]->name, strlen(ss_rules[i]->name)));
	return hash;
}

/* Borrows everything except the tasks, whose starts will change. */
static bool summary_copy_graph(const struct ss_graph *whole, struct ss_graph *out)
{
	size_t bytes = whole->task_count * sizeof(*whole->tasks);

	*out = *whole;
	out->task_capacity = whole->task_count + 1;
	out->tasks = ss_memory_resize(whole->memory, NULL, 0, bytes + sizeof(*whole->tasks));
	if (!out->tasks)
		return false;
	if (bytes)
		memcpy(out->tasks, whole->tasks, bytes);
	out->tasks[whole->task_count] = (struct ss_task){ .edges = whole->edge_count };
	return true;
}

/* Unpacks tasks and edges; borrows names, steps and collectives. */
static bool summary_unpack_graph(const struct ss_packed *packed, struct ss_graph *out)
{
	if (!ss_packed_unpack(packed, out))
		return false;
	out->names = packed->names;
	out->names_of = packed->names_of;
	out->name_bytes = packed->name_bytes;
	out->steps = packed->steps;
	out->step_count = packed->step_count;
	out->comms = packed->comms;
	out->comm_count = packed->comm_count;
	out->main = packed->main;
	memcpy(out->edges_of, packed->edges_of, sizeof(out->edges_of));
	return true;
}

static void wide_rank_free(struct wide_rank *wide)
{
	SS_FREE(wide->graph.memory, wide->tasks, wide->task_room);
	SS_FREE(wide->graph.memory, wide->edges, wide->edge_room);
}

/* Tasks and edges of the graph as they are written. False: no memory. */
static bool wide_rank_widen(struct wide_rank *wide)
{
	const struct ss_graph *graph = &wide->graph;

	if (!SS_RESERVE(graph->memory, wide->tasks, wide->task_room, graph->task_count) ||
	    !SS_RESERVE(graph->memory, wide->edges, wide->edge_room, graph->edge_count))
		return false;
	for (uint32_t i = 0; i < graph->task_count; i++)
		wide->tasks[i] = (struct wide_task){
			graph->tasks[i], ss_replay_name_at(graph->names_of, graph->name_bytes, i)
		};
	for (uint32_t i = 0; i < graph->edge_count; i++)
		wide->edges[i] = ss_replay_edge_of(graph, &graph->edges[i]);
	return true;
}

/* The other way round. */
static bool wide_rank_narrow(struct wide_rank *wide)
{
	struct ss_graph *graph = &wide->graph;

	if (!SS_RESERVE(graph->memory, graph->tasks, graph->task_capacity,
			(size_t)graph->task_count + 1) ||
	    !SS_RESERVE(graph->memory, graph->edges, graph->edge_capacity, graph->edge_count))
		return false;
	for (uint32_t i = 0; i < graph->task_count; i++) {
		graph->tasks[i] = wide->tasks[i].own;
		if (!ss_replay_graph_name_task(graph, i, wide->tasks[i].name))
			return false;
	}
	graph->tasks[graph->task_count] = (struct ss_task){ .edges = graph->edge_count };
	for (uint32_t i = 0; i < graph->edge_count; i++)
		if (!ss_replay_edge_shorten(graph, &wide->edges[i], &graph->edges[i]))
			return false;
	return true;
}

/* If there is no memory, the text has failed. */
static void summary_write(const void *summary, struct ss_text *out)
{
	const struct ss_rank_summary *own = summary;
	struct wide_rank wide = { .findings = own->findings, .file_bytes = own->file_bytes };
	struct ss_graph *graph = &wide.graph;
	bool is_whole = own->whole.memory;

	*graph = (struct ss_graph){ .memory = own->memory };
	if ((is_whole ? summary_copy_graph(&own->whole, graph)
		      : summary_unpack_graph(&own->graph, graph)) &&
	    ss_starts_reduce(graph) && wide_rank_widen(&wide))
		ss_fields_write(&layout, &wide, out);
	else
		ss_text_fail(out);
	wide_rank_free(&wide);
	/* the rest is borrowed */
	*graph = (struct ss_graph){ .memory = own->memory,
				    .tasks = graph->tasks,
				    .task_capacity = graph->tasks ? graph->task_capacity : 0,
				    .edges = is_whole ? NULL : graph->edges,
				    .edge_capacity = is_whole ? 0 : graph->edge_capacity,
				    .lags = is_whole ? NULL : graph->lags,
				    .lag_capacity = is_whole ? 0 : graph->lag_capacity };
	ss_replay_graph_release(graph);
}

/* --- what the declaration cannot say --------------------------------------------------- */

/* The durations of a path sum to less than this. */
#define PATH_MAX_NS (INT64_C(1) << 61)

/* Whether indexes are in range and ordered, and durations do not overflow. */
static bool graph_is_sound(struct ss_graph *graph)
{
	uint32_t edges = 0;
	int64_t sum_ns = 0;

	for (uint32_t i = 0; i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if (task->edges < edges || task->edges > graph->edge_count ||
		    task->own_ns > PATH_MAX_NS - sum_ns)
			return false;
		edges = task->edges;
		sum_ns += task->own_ns;
	}
	if (graph->task_count && graph->tasks[0].edges)
		return false;
	for (uint32_t i = 0; i < graph->comm_count; i++) {
		const struct ss_graph_comm *comm = &graph->comms[i];

		if ((i && comm[-1].row >= comm->row) || comm->task + 1 >= graph->task_count ||
		    graph->tasks[comm->task].kind != SS_TASK_ARRIVE ||
		    graph->tasks[comm->task + 1].kind != SS_TASK_TRANSFER)
			return false;
	}
	for (uint32_t i = 0; i < graph->step_count; i++)
		if (graph->steps[i].end_ns < graph->steps[i].start_ns)
			return false;
	return true;
}

/* Whether claims and facts of the rules are consecutive, and claims shorten their tasks. */
static bool findings_are_sound(const struct ss_rank_findings *findings,
			       const struct ss_graph *graph)
{
	uint32_t claims = 0, facts = 0;

	for (uint32_t i = 0; i < ss_rule_count; i++) {
		const struct ss_found_part *part = &findings->parts[i];

		if (part->claim_from != claims || part->claim_to < claims ||
		    part->claim_to > findings->claim_count || part->fact_from != facts ||
		    part->fact_to < facts || part->fact_to > findings->fact_count)
			return false;
		claims = part->claim_to;
		facts = part->fact_to;
	}
	for (uint32_t i = 0; i < findings->claim_count; i++) {
		const struct ss_claim *claim = &findings->claims[i];
		int64_t own_ns = graph->tasks[claim->task].own_ns;

		if (claim->own_ns > own_ns || claim->low_ns > own_ns || claim->high_ns > own_ns ||
		    claim->with > ss_rule_count)
			return false;
	}
	return true;
}

static enum ss_status wide_rank_finish(struct wide_rank *wide, struct ss_memory *memory,
				       struct ss_error *err)
{
	struct ss_rank_findings *findings = &wide->findings;
	size_t tasks = (size_t)wide->graph.task_count + 1;

	findings->task_count = wide->graph.task_count;
	if (!wide_rank_narrow(wide))
		return ss_fail_memory(err, "a digest");
	if (findings->part_count != ss_rule_count || !graph_is_sound(&wide->graph) ||
	    !findings_are_sound(findings, &wide->graph))
		return ss_fail(err, SS_ERR_FORMAT, "its findings contradict themselves");
	SS_TRY(ss_starts_restore(&wide->graph, err));
	findings->owner = ss_memory_zeroed(memory, tasks);
	if (!findings->owner)
		return ss_fail_memory(err, "a digest");
	return ss_replay_graph_find_delays(&wide->graph) ? SS_OK : ss_fail_memory(err, "a digest");
}

/* Fills a summary that has nothing but its memory account; release it either way. */
static enum ss_status summary_read_fields(struct ss_rank_summary *summary,
					  struct ss_fields_reader *reader, struct ss_error *err)
{
	struct wide_rank wide = { .graph = { .memory = summary->memory },
				  .findings = { .memory = summary->memory } };
	enum ss_status status = ss_fields_read(reader, &layout, &wide, err);

	if (status == SS_OK && reader->at != reader->end)
		status = ss_fail(err, SS_ERR_FORMAT, "its findings are too long");
	if (status == SS_OK)
		status = wide_rank_finish(&wide, summary->memory, err);
	if (status == SS_OK)
		status = ss_packed_make(&summary->graph, &wide.graph, err);
	summary->findings = wide.findings;
	summary->file_bytes = wide.file_bytes;
	wide_rank_free(&wide);
	ss_replay_graph_release(&wide.graph);
	return status;
}

/* --- summaries ------------------------------------------------------------------------ */

static void summary_release(void *summary)
{
	struct ss_rank_summary *own = summary;

	ss_rank_findings_release(&own->findings);
	ss_packed_release(&own->graph);
	ss_replay_graph_release(&own->whole);
	ss_memory_free(own->memory, own, sizeof(*own));
}

static bool summary_share(void *summary, struct ss_strings *pool)
{
	struct ss_rank_summary *own = summary;

	return ss_strings_share(&own->findings.texts, pool) &&
	       (!own->graph.names.count || ss_strings_share(&own->graph.names, pool));
}

static enum ss_status summary_begin(void **out, const struct ss_subject *subject,
				    struct ss_memory *memory, struct ss_error *err)
{
	struct ss_rank_summary *summary = ss_memory_resize(memory, NULL, 0, sizeof(*summary));
	enum ss_status status;

	if (!summary)
		return ss_fail_memory(err, "what was found on a rank");
	*summary = (struct ss_rank_summary){ .memory = memory,
					     .file_bytes = subject->trace->file_bytes };
	status = ss_replay_graph_make(&summary->whole, subject, memory, err);
	if (status == SS_OK) {
		*out = summary;
		return SS_OK;
	}
	ss_replay_graph_release(&summary->whole); /* it may have failed halfway */
	ss_memory_free(memory, summary, sizeof(*summary));
	return status;
}

/* Lets the rules look; packing the graph, which they only read, is done beside them. */
struct summary_packing {
	struct ss_rank_summary *own;
	enum ss_status status;
	struct ss_error err;
};

static void summary_pack(void *context)
{
	struct summary_packing *packing = context;

	packing->status = ss_packed_fill(&packing->own->graph, &packing->own->whole, &packing->err);
}

static enum ss_status summary_finish_unpacked(void *summary, const struct ss_subject *subject,
					      const struct ss_digest *digest, uint32_t threads,
					      struct ss_error *err)
{
	struct ss_rank_summary *own = summary;
	struct ss_looking looking = { subject, digest, &own->whole, threads, NULL, NULL };

	return ss_rank_findings_make(&own->findings, &looking, own->memory, err);
}

static enum ss_status summary_finish(void *summary, const struct ss_subject *subject,
				     const struct ss_digest *digest, uint32_t threads,
				     struct ss_error *err)
{
	struct ss_rank_summary *own = summary;
	struct summary_packing packing = { .own = own };
	struct ss_looking looking = {
		subject, digest, &own->whole, threads, summary_pack, &packing
	};

	SS_TRY(ss_rank_findings_make(&own->findings, &looking, own->memory, err));
	if (packing.status != SS_OK) {
		if (err)
			*err = packing.err;
		return packing.status;
	}
	ss_packed_take(&own->graph, &own->whole);
	ss_replay_graph_release(&own->whole);
	return SS_OK;
}

static void snapshot_summary_release(void *summary)
{
	struct ss_snapshot_summary *own = summary;

	ss_arena_release(&own->arena);
	ss_memory_free(own->memory, own, sizeof(*own));
}

static enum ss_status snapshot_summary_make(void **out, const struct ss_snapshot_subject *subject,
					    struct ss_memory *memory, struct ss_error *err)
{
	struct ss_snapshot_summary *summary = ss_memory_resize(memory, NULL, 0, sizeof(*summary));
	enum ss_status status;

	if (!summary)
		return ss_fail_memory(err, "what was found in a snapshot");
	*summary = (struct ss_snapshot_summary){ .memory = memory };
	ss_arena_init(&summary->arena, memory);
	status = ss_rule_memory_findings_make(&summary->findings, subject, &summary->arena, err);
	if (status != SS_OK) {
		snapshot_summary_release(summary);
		return status;
	}
	for (uint32_t i = 0; i < summary->findings.count; i++)
		summary->findings.items[i].device = NULL;
	*out = summary;
	return SS_OK;
}

static enum ss_status summary_read(void **out, struct ss_fields_reader *reader,
				   struct ss_memory *memory, struct ss_error *err)
{
	struct ss_rank_summary *summary = ss_memory_resize(memory, NULL, 0, sizeof(*summary));
	enum ss_status status;

	if (!summary)
		return ss_fail_memory(err, "what was found on a rank");
	*summary = (struct ss_rank_summary){ .memory = memory };
	status = summary_read_fields(summary, reader, err);
	if (status == SS_OK)
		*out = summary;
	else
		summary_release(summary);
	return status;
}

const struct ss_job_summarizer ss_diagnose_summarizer = {
	.begin = summary_begin,
	.finish = summary_finish,
	.facts = ss_rank_findings_facts,
	.share = summary_share,
	.release = summary_release,
	.make_memory = snapshot_summary_make,
	.release_memory = snapshot_summary_release,
	.layout = summary_layout,
	.write = summary_write,
	.read = summary_read,
};

const struct ss_job_summarizer ss_diagnose_digest_summarizer = {
	.begin = summary_begin,
	.finish = summary_finish_unpacked,
	.facts = ss_rank_findings_facts,
	.release = summary_release,
	.layout = summary_layout,
	.write = summary_write,
	.read = summary_read,
};
