/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_kind.c - the kind of a job, by the names in its trace and the phases of its steps.
 */
#include "diagnose/job_kind.h"
#include "base/text.h"

/* What ranges, operators and files of inference engines are called; parts of names. */
static const char *const engine_names[] = {
	"vllm::",       "vllm/",        "sglang/",         "sgl_kernel::",
	"step[EXTEND",  "step[DECODE",  "lmdeploy/",       "text_generation_server/",
	"tensorrt_llm", "execute_new_", "execute_context",
};

/* What compiled code is called: regions of Dynamo, functions of AOTAutograd, graphs of Inductor. */
static const char *const compiled_names[] = {
	"Torch-Compiled Region",
	"CompiledFunction",
	"CompiledFxGraph",
};

uint32_t ss_rule_job_kind(const struct ss_phases *phases, bool has_device)
{
	const struct ss_strings *names = &phases->trace->names;
	uint32_t kind = SS_JOB_UNFED | (has_device ? 0 : SS_JOB_ON_CPU);

	if (phases->has_ops && !phases->has[SS_PHASE_BACKWARD] && !phases->has[SS_PHASE_OPTIMIZER])
		kind |= SS_JOB_INFERS;
	for (uint32_t i = 0; i < names->count; i++) {
		const char *name = ss_strings_text(names, i);

		if (phases->trace->name_flags[i] & SS_NAME_DATALOADER)
			kind &= ~(uint32_t)SS_JOB_UNFED;
		if ((kind & SS_JOB_INFERS) &&
		    ss_string_has_one_of(name, engine_names, SS_COUNT(engine_names)))
			kind |= SS_JOB_SERVED;
		if (ss_string_has_one_of(name, compiled_names, SS_COUNT(compiled_names)))
			kind |= SS_JOB_COMPILED;
	}
	return kind;
}

const char *ss_rule_choose_fix(const struct ss_rule_fix *fixes, uint32_t kind)
{
	for (; fixes && fixes->text; fixes++)
		if ((kind & fixes->kind) == fixes->kind)
			return fixes->text;
	return NULL;
}
