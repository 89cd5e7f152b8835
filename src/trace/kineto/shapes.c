/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shapes.c - learning shapes and reading by them.
 */
#include "trace/kineto/reader.h"

/* Alternatives that are tried before the cursor takes over. */
#define SIBLINGS_MAX 24

/* Strings up to this length of a few keys (phase, category) are part of the text. */
#define CONSTANT_BYTES 40

void ss_shapes_init(struct ss_shapes *shapes)
{
	shapes->nodes[0] = (struct ss_shape_node){ .length = 0 };
	shapes->count = 1;
	shapes->last = 0;
}

#if defined(__SSE2__)

static inline unsigned equal_bytes(const char *a, const char *b)
{
	return (unsigned)_mm_movemask_epi8(
		_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)a),
			       _mm_loadu_si128((const __m128i *)(const void *)b)));
}

static inline bool shape_node_fits(const struct ss_shape_node *node, const char *text)
{
	if ((equal_bytes(text, node->text) & node->mask) != node->mask)
		return false;
	for (int at = 16; at < node->length; at += 16) {
		int left = node->length - at;
		unsigned wanted = left >= 16 ? 0xffffu : (1u << left) - 1;

		if ((equal_bytes(text + at, node->text + at) & wanted) != wanted)
			return false;
	}
	return true;
}

/* The end of a plain number: digits, point and minus. */
static inline const char *shape_number_end(const char *at)
{
	const __m128i low = _mm_set1_epi8('-' - 1), high = _mm_set1_epi8('9' + 1);

	for (;; at += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
		__m128i inside = _mm_and_si128(_mm_cmpgt_epi8(bytes, low),
					       _mm_cmpgt_epi8(high, bytes));
		unsigned mask = ~(unsigned)_mm_movemask_epi8(inside) & 0xffff;

		if (mask)
			return at + __builtin_ctz(mask);
	}
}

#else

static inline bool shape_node_fits(const struct ss_shape_node *node, const char *text)
{
	return memcmp(node->text, text, node->length) == 0;
}

static inline const char *shape_number_end(const char *at)
{
	while (*at >= '-' && *at <= '9')
		at++;
	return at;
}

#endif

/* Reads the value in a hole; false when it needs the cursor's care. */
static inline bool shape_read_hole(struct ss_json *json, struct ss_json_span *out)
{
	const char *start = json->at, *stop;

	if ((unsigned char)(*start - '0') <= 9 || *start == '-') {
		stop = shape_number_end(start + 1);
		*out = (struct ss_json_span){ start, (uint32_t)(stop - start), SS_JSON_BARE, 0 };
		json->at = stop;
		return true;
	}
	if (*start == '"') {
		stop = ss_bytes_string_stop(start + 1);
		if (*stop == '"') {
			*out = (struct ss_json_span){ start + 1, (uint32_t)(stop - start - 1),
						      SS_JSON_STRING, 0 };
			json->at = stop + 1;
			return true;
		}
	}
	return ss_json_value(json, out) == SS_JSON_OK;
}

/*
 * The node after `node` whose text stands at the cursor; NULL: none. `*hint` is
 * the one to try first, and the one that fitted afterwards.
 */
static inline struct ss_shape_node *shape_next_node(struct ss_shapes *shapes,
						    const struct ss_shape_node *node,
						    uint16_t *hint, const char *at)
{
	struct ss_shape_node *next = &shapes->nodes[*hint];
	uint16_t index = node->child;

	if (*hint && shape_node_fits(next, at))
		return next;
	for (int tried = 0; index && tried < SIBLINGS_MAX; tried++) {
		next = &shapes->nodes[index];
		if (shape_node_fits(next, at)) {
			*hint = index;
			return next;
		}
		index = next->sibling;
	}
	return NULL;
}

const struct ss_shape_node *ss_shapes_read(struct ss_shapes *shapes, struct ss_json *json,
					   struct ss_arg_values *out)
{
	struct ss_shape_node *node = &shapes->nodes[0];
	/* launches alternate with their arrows: what came after such an event comes again */
	uint16_t *hint = &shapes->nodes[shapes->last].hint;
	struct ss_json inner = *json;
	uint64_t seen = 0;

	for (;;) {
		node = shape_next_node(shapes, node, hint, inner.at);
		if (!node)
			return NULL;
		hint = &node->hint;
		inner.at += node->length;
		if (node->hole >= SS_HOLE_NONE) {
			if (node->hole == SS_HOLE_NONE)
				continue;
			out->seen = seen;
			json->at = inner.at;
			shapes->last = (uint16_t)(node - shapes->nodes);
			return node;
		}
		seen |= (uint64_t)1 << node->hole;
		if (!shape_read_hole(&inner, &out->values[node->hole]))
			return NULL;
	}
}

/* Learning: the node reached so far, and where its text has to go on. */
struct shape_lesson {
	struct ss_shapes *shapes;
	uint16_t node;
	const char *from;
	bool failed; /* no room left */
};

static bool shape_node_is_same(const struct ss_shape_node *node, const char *text, size_t length,
			       uint8_t hole)
{
	return node->length == length && node->hole == hole &&
	       memcmp(node->text, text, length) == 0;
}

/* Goes to the child with this text and hole, which is made when it is new. */
static struct ss_shape_node *shape_descend(struct shape_lesson *lesson, size_t length, uint8_t hole)
{
	struct ss_shapes *shapes = lesson->shapes;
	struct ss_shape_node *parent = &shapes->nodes[lesson->node];
	uint16_t *link = &parent->child;
	int siblings = 0;

	for (; *link; link = &shapes->nodes[*link].sibling, siblings++)
		if (shape_node_is_same(&shapes->nodes[*link], lesson->from, length, hole))
			break;
	if (!*link) {
		if (shapes->count == SS_SHAPE_NODES || siblings >= SIBLINGS_MAX) {
			lesson->failed = true;
			return NULL;
		}
		*link = (uint16_t)shapes->count;
		shapes->nodes[shapes->count] = (struct ss_shape_node){
			.mask = (uint16_t)(length >= 16 ? 0xffff : (1u << length) - 1),
			.length = (uint8_t)length,
			.hole = hole,
		};
		memcpy(shapes->nodes[shapes->count++].text, lesson->from, length);
	}
	lesson->node = *link;
	lesson->from += length;
	return &shapes->nodes[lesson->node];
}

/* The text up to `to` is the same in every event of the shape; a hole follows. */
static struct ss_shape_node *shape_learn_text(struct shape_lesson *lesson, const char *to,
					      uint8_t hole)
{
	while (!lesson->failed && to - lesson->from > SS_SHAPE_TEXT)
		shape_descend(lesson, SS_SHAPE_TEXT, SS_HOLE_NONE);
	return lesson->failed ? NULL : shape_descend(lesson, (size_t)(to - lesson->from), hole);
}

static uint8_t hole_of(const struct ss_json_span *key)
{
	static const struct {
		const char *key;
		uint8_t hole;
	} holes[] = {
		{ "name", SS_FIELD_NAME }, { "pid", SS_FIELD_PID }, { "tid", SS_FIELD_TID },
		{ "ts", SS_FIELD_TS },     { "dur", SS_FIELD_DUR }, { "id", SS_FIELD_ID },
	};

	for (size_t i = 0; i < SS_COUNT(holes); i++)
		if (ss_json_is(key, holes[i].key))
			return holes[i].hole;
	return SS_ARG_NONE;
}

/* Keys whose values choose the template rather than fill it. */
static bool shape_hole_chooses(const struct ss_json_span *key)
{
	return ss_json_is(key, "ph") || ss_json_is(key, "cat");
}

static bool is_short(const struct ss_json_span *value)
{
	return value->type == SS_JSON_STRING && value->length <= CONSTANT_BYTES;
}

/* Learns one object: the event itself, or its arguments. */
static bool shape_learn_object(struct shape_lesson *lesson, const struct ss_arg_index *args_index,
			       struct ss_json *json, bool is_args, bool *has_args)
{
	struct ss_json_span key, value;

	json->at++;
	for (bool first = true;; first = false) {
		const char *start;
		uint8_t hole;

		if (ss_json_key(json, first, &key) != SS_JSON_OK)
			return false;
		if (key.type == SS_JSON_NONE)
			return true;
		start = json->at;
		if (!is_args && ss_json_is(&key, "args")) {
			/* other events may have another kind of value there, or one more */
			if (*start != '{' || *has_args)
				return false;
			*has_args = true;
			if (!shape_learn_object(lesson, args_index, json, true, has_args))
				return false;
			continue;
		}
		if (ss_json_value(json, &value) != SS_JSON_OK)
			return false;
		if (!is_args && shape_hole_chooses(&key)) {
			if (!is_short(&value))
				return false;
			continue;
		}
		hole = is_args ? (uint8_t)ss_arg_find(args_index, &key) : hole_of(&key);
		if (!shape_learn_text(lesson, start, hole))
			return false;
		lesson->from = json->at;
	}
}

void ss_shapes_learn(struct ss_shapes *shapes, const struct ss_arg_index *index, const char *start,
		     const char *end, char phase, uint16_t category)
{
	struct shape_lesson lesson = { .shapes = shapes, .from = start };
	struct ss_json json = { .at = start, .end = end, .whole = true };
	struct ss_shape_node *last;
	bool has_args = false;

	/* a shape with a NUL in it would match the padding after the text, and read beyond it */
	if (memchr(start, '\0', (size_t)(end - start)))
		return;
	if (!shape_learn_object(&lesson, index, &json, false, &has_args) || json.at != end)
		return;
	last = shape_learn_text(&lesson, end, SS_HOLE_END);
	if (!last)
		return;
	last->phase = (uint8_t)phase;
	last->category = category;
	last->has_args = has_args;
}
