/*
 * fuzz_pack.c - packs, changed in every way and with checksums that are right.
 *
 * A checksum would stop nearly every change before it is looked at, so those are made
 * right first. JSON among the inputs is packed: the seeds are the same files as those of
 * the other targets, and the mutator makes packs of them.
 */
#include <string.h>

#include "base/checksum.h"
#include "base/hash.h"
#include "base/text.h"
#include "check.h"
#include "trace/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#define HEAD_BYTES (sizeof(struct ss_pack_header) + SS_PARTS * sizeof(struct ss_pack_entry))

static bool is_pack(const uint8_t *data, size_t size)
{
	return size >= HEAD_BYTES && memcmp(data, SS_PACK_MAGIC, SS_PACK_MAGIC_BYTES) == 0;
}

/* The form, and the sums of parts that lie in the file and of the head. */
static void mend(uint8_t *data, size_t size)
{
	struct ss_pack_header header;
	struct ss_pack_entry table[SS_PARTS];
	struct ss_checksum sum;

	memcpy(&header, data, sizeof(header));
	memcpy(table, data + sizeof(header), sizeof(table));
	for (int i = 0; i < SS_PARTS; i++)
		if (table[i].offset <= size && table[i].bytes <= size - table[i].offset)
			table[i].checksum = ss_checksum_of(data + table[i].offset,
							   (size_t)table[i].bytes);
	/* what was found once stays an input when the program changes */
	header.version = SS_PACK_VERSION;
	header.layout = ss_pack_layout();
	header.checksum = 0;
	ss_checksum_init(&sum);
	ss_checksum_add(&sum, &header, sizeof(header));
	ss_checksum_add(&sum, table, sizeof(table));
	header.checksum = ss_checksum_end(&sum);
	memcpy(data, &header, sizeof(header));
	memcpy(data + sizeof(header), table, sizeof(table));
}

static enum ss_status append(void *context, const char *bytes, size_t length, struct ss_error *err)
{
	struct ss_text *out = context;

	ss_text_add(out, bytes, length);
	return ss_text_failed(out) ? ss_fail_memory(err, "a pack") : SS_OK;
}

/* Packs and unpacks: the same trace comes back. */
static void check_round(const struct ss_trace *trace)
{
	const struct ss_load_options options = { .threads = 1 };
	struct ss_text pack = { 0 };
	struct ss_memory memory;
	struct ss_trace again;
	struct ss_error err = { 0 };

	ss_memory_init(&memory, 0);
	CHECK(ss_pack_write(trace, "a/rank3.json", append, &pack, &err) == SS_OK);
	if (load_bytes((const uint8_t *)pack.data, pack.length, &options, &memory, &again, &err) !=
	    SS_OK) {
		fprintf(stderr, "ERROR: %s\n", err.text);
		abort();
	}
	check_equal(trace, &again);
	ss_trace_release(&again);
	CHECK(memory.used_bytes == 0);
	ss_text_release(&pack);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ss_load_options options = { .threads = 1 };
	uint8_t *mended = malloc(size + 1);
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_trace trace;

	CHECK(mended);
	if (size)
		memcpy(mended, data, size);
	if (is_pack(data, size))
		mend(mended, size);
	ss_memory_init(&memory, 0);
	if (load_bytes(mended, size, &options, &memory, &trace, &err) == SS_OK) {
		check_trace(&trace);
		check_round(&trace);
		ss_trace_release(&trace);
		if (is_pack(data, size)) {
			CHECK(ss_session_open_memory(mended, size, "rank3.stepscope", &session,
						     &err) == SS_OK);
			check_views(session, "json");
			check_timeline(session, ss_hash_bytes((const char *)data, (uint32_t)size));
			ss_session_close(session);
		}
	} else {
		CHECK(err.text[0]);
	}
	CHECK(memory.used_bytes == 0);
	free(mended);
	return 0;
}

/* A pack of the JSON, or nothing. */
static size_t pack_json(uint8_t *data, size_t size, size_t max_size)
{
	const struct ss_load_options options = { .threads = 1 };
	struct ss_text pack = { 0 };
	struct ss_memory memory;
	struct ss_trace trace;
	size_t length = 0;

	ss_memory_init(&memory, 0);
	if (load_bytes(data, size, &options, &memory, &trace, NULL) != SS_OK)
		return 0;
	if (ss_pack_write(&trace, "rank3.json", append, &pack, NULL) == SS_OK &&
	    pack.length <= max_size) {
		memcpy(data, pack.data, pack.length);
		length = pack.length;
	}
	ss_trace_release(&trace);
	ss_text_release(&pack);
	return length;
}

/* Numbers that break what was not thought of. */
static void set_item(uint8_t *at, size_t bytes, unsigned int seed)
{
	static const uint64_t values[] = { 0,
					   1,
					   2,
					   7,
					   255,
					   UINT32_MAX,
					   UINT32_MAX - 1,
					   INT32_MAX,
					   UINT64_MAX,
					   INT64_MAX,
					   (uint64_t)1 << 63,
					   INT64_MAX / 3,
					   1000000000 };
	uint64_t value = 0;

	memcpy(&value, at, bytes < 8 ? bytes : 8);
	if (seed % 3 == 0)
		value += seed / 3 % 2 ? 1 : -1;
	else
		value = values[seed / 3 % SS_COUNT(values)];
	memcpy(at, &value, bytes < 8 ? bytes : 8);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct ss_pack_entry entry;
	size_t at, width;

	if (!is_pack(data, size)) {
		at = pack_json(data, size, max_size);
		return at ? at : LLVMFuzzerMutate(data, size, max_size);
	}
	if (seed % 64 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	seed /= 64;
	memcpy(&entry, data + sizeof(struct ss_pack_header) + (seed % SS_PARTS) * sizeof(entry),
	       sizeof(entry));
	seed = seed / SS_PARTS;
	if (!entry.bytes || entry.offset > size || entry.bytes > size - entry.offset ||
	    !entry.item_bytes)
		return size;
	if (seed % 4 == 0) {
		LLVMFuzzerMutate(data + entry.offset, (size_t)entry.bytes, (size_t)entry.bytes);
		return size;
	}
	/* items are made of fields of 4 and 8 bytes */
	width = entry.item_bytes > 8 ? (seed % 2 ? 4 : 8) : entry.item_bytes;
	at = (seed / 8 * 2654435761u) % (size_t)(entry.bytes / width) * width;
	set_item(data + entry.offset + at, width, seed / 4);
	return size;
}
