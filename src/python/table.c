/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - the table type: columns as buffers, which numpy.frombuffer() reads in place, or as
 * values, and the whole table as an Arrow stream.
 */
#include <string.h>

#include "api/renderers.h"
#include "python/module.h"

/* --- the buffer of a column ---------------------------------------------------------------- */

struct buffer {
	PyObject_HEAD PyObject *owner;
	const void *bytes;
	Py_ssize_t count, item;
	char format[2];
};

/* Bytes of a table without a copy; keeps the table alive. `format` is one of Python's struct. */
static PyObject *py_buffer_new(const struct module *module, PyObject *owner, const void *bytes,
			       Py_ssize_t count, Py_ssize_t item, const char *format)
{
	struct buffer *self = PyObject_New(struct buffer, module->buffer);

	if (!self)
		return NULL;
	self->owner = Py_NewRef(owner);
	self->bytes = bytes;
	self->count = count;
	self->item = item;
	self->format[0] = format[0];
	self->format[1] = '\0';
	return (PyObject *)self;
}

static void py_buffer_dealloc(PyObject *object)
{
	struct buffer *self = (struct buffer *)object;
	PyTypeObject *type = Py_TYPE(object);

	Py_DECREF(self->owner);
	PyObject_Free(object);
	Py_DECREF(type);
}

static int py_buffer_lend(PyObject *object, Py_buffer *view, int flags)
{
	static const char nothing[8];
	struct buffer *self = (struct buffer *)object;

	if (flags & PyBUF_WRITABLE) {
		PyErr_SetString(PyExc_BufferError, "columns of a table cannot be changed");
		view->obj = NULL;
		return -1;
	}
	*view = (Py_buffer){
		.buf = (void *)(uintptr_t)(self->bytes ? self->bytes : nothing),
		.obj = Py_NewRef(object),
		.len = self->count * self->item,
		.itemsize = self->item,
		.readonly = 1,
		.ndim = 1,
		.format = flags & PyBUF_FORMAT ? self->format : NULL,
		.shape = flags & PyBUF_ND ? &self->count : NULL,
		.strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &self->item : NULL,
	};
	return 0;
}

/* The flag that says so is newer than Python 3.9. */
static PyObject *py_refuse_new(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
	(void)arguments;
	(void)named;
	return PyErr_Format(PyExc_TypeError, "%R has no constructor", type);
}

static PyType_Slot buffer_slots[] = {
	{ Py_tp_new, py_refuse_new },
	{ Py_tp_dealloc, py_buffer_dealloc },
	{ Py_bf_getbuffer, py_buffer_lend },
	{ Py_tp_doc, (void *)(uintptr_t) "The bytes of a column." },
	{ 0, NULL },
};

PyType_Spec buffer_spec = {
	.name = "stepscope._core.Buffer",
	.basicsize = sizeof(struct buffer),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = buffer_slots,
};

/* --- the table ----------------------------------------------------------------------------- */

struct py_table {
	PyObject_HEAD struct shared *shared;
};

static struct shared *shared_of(PyObject *self)
{
	return ((struct py_table *)self)->shared;
}

PyObject *py_table_new(const struct module *module, struct ArrowArrayStream *stream)
{
	struct shared *shared = shared_take(stream);
	struct py_table *self;

	if (!shared)
		return PyErr_NoMemory();
	self = PyObject_New(struct py_table, module->table);
	if (self)
		self->shared = shared;
	else
		shared_drop(shared);
	return (PyObject *)self;
}

static void py_table_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	shared_drop(shared_of(self));
	PyObject_Free(self);
	Py_DECREF(type);
}

static Py_ssize_t py_table_length(PyObject *self)
{
	const struct ArrowArray *array = shared_array(shared_of(self));

	return array ? (Py_ssize_t)array->length : 0;
}

/* --- Arrow ------------------------------------------------------------------------------ */

static void free_stream(PyObject *capsule)
{
	struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");

	if (stream->release)
		stream->release(stream);
	ss_arrow_free(stream);
}

static PyObject *arrow_stream(PyObject *self, PyObject *arguments, PyObject *keywords)
{
	char *names[] = { "requested_schema", NULL };
	struct ArrowArrayStream *stream;
	PyObject *requested = NULL, *capsule;

	/* the requested schema is optional: readers cast what they get */
	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O", names, &requested))
		return NULL;
	stream = ss_arrow_alloc(1, sizeof(*stream));
	if (!stream || !shared_stream(shared_of(self), stream)) {
		ss_arrow_free(stream);
		return PyErr_NoMemory();
	}
	capsule = PyCapsule_New(stream, "arrow_array_stream", free_stream);
	if (!capsule) {
		stream->release(stream);
		ss_arrow_free(stream);
	}
	return capsule;
}

static void free_schema(PyObject *capsule)
{
	struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");

	if (schema->release)
		schema->release(schema);
	ss_arrow_free(schema);
}

static PyObject *arrow_schema(PyObject *self, PyObject *unused)
{
	struct ArrowSchema *schema = ss_arrow_alloc(1, sizeof(*schema));
	PyObject *capsule;

	(void)unused;
	if (!schema || !ss_arrow_copy(shared_schema(shared_of(self)), schema)) {
		ss_arrow_free(schema);
		return PyErr_NoMemory();
	}
	capsule = PyCapsule_New(schema, "arrow_schema", free_schema);
	if (!capsule) {
		schema->release(schema);
		ss_arrow_free(schema);
	}
	return capsule;
}

/* --- schema ----------------------------------------------------------------------------- */

/* Key-value pairs in Arrow's format: their number, then lengths and bytes. */
static PyObject *read_metadata(const char *bytes)
{
	PyObject *out = PyDict_New();
	int32_t count = 0;

	if (!out || !bytes)
		return out;
	memcpy(&count, bytes, sizeof(count));
	bytes += sizeof(count);
	for (int32_t i = 0; i < count; i++) {
		PyObject *pair[2] = { NULL, NULL };
		int failed;

		for (int side = 0; side < 2; side++) {
			int32_t size;

			memcpy(&size, bytes, sizeof(size));
			pair[side] = PyUnicode_DecodeUTF8(bytes + sizeof(size), size, "replace");
			bytes += sizeof(size) + (size_t)size;
		}
		failed = !pair[0] || !pair[1] || PyDict_SetItem(out, pair[0], pair[1]) < 0;
		Py_XDECREF(pair[0]);
		Py_XDECREF(pair[1]);
		if (failed) {
			Py_DECREF(out);
			return NULL;
		}
	}
	return out;
}

static PyObject *metadata(PyObject *self, PyObject *unused)
{
	(void)unused;
	return read_metadata(shared_schema(shared_of(self))->metadata);
}

/* (name, format, metadata) of each column. */
static PyObject *py_table_fields(PyObject *self, PyObject *unused)
{
	const struct ArrowSchema *schema = shared_schema(shared_of(self));
	PyObject *out = PyList_New((Py_ssize_t)schema->n_children);

	(void)unused;
	for (int64_t i = 0; out && i < schema->n_children; i++) {
		const struct ArrowSchema *child = schema->children[i];
		PyObject *about = read_metadata(child->metadata);
		PyObject *field = about ? Py_BuildValue("(ssN)", child->name,
							child->dictionary ? "text" : child->format,
							about)
					: NULL;

		if (!field || PyList_SetItem(out, (Py_ssize_t)i, field) < 0) {
			Py_DECREF(out);
			return NULL;
		}
	}
	return out;
}

/* --- values ----------------------------------------------------------------------------- */

static PyObject *texts_of(const struct ArrowArray *texts)
{
	const int64_t *offsets = texts->buffers[1];
	const char *bytes = texts->buffers[2];
	PyObject *out = PyList_New((Py_ssize_t)texts->length);

	for (int64_t i = 0; out && i < texts->length; i++) {
		PyObject *text = PyUnicode_DecodeUTF8(bytes + offsets[i],
						      (Py_ssize_t)(offsets[i + 1] - offsets[i]),
						      "replace");

		if (!text || PyList_SetItem(out, (Py_ssize_t)i, text) < 0) {
			Py_DECREF(out);
			return NULL;
		}
	}
	return out;
}

static bool py_table_find_column(PyObject *self, Py_ssize_t index)
{
	if (index >= 0 && index < shared_schema(shared_of(self))->n_children)
		return true;
	PyErr_SetString(PyExc_IndexError, "no such column");
	return false;
}

static bool py_table_is_known(const struct ArrowArray *array, int64_t row)
{
	const unsigned char *known = array->buffers[0];

	return !known || (known[row / 8] >> (row % 8) & 1);
}

/*
 * (values, validity, texts): validity is None if all values are valid, texts is None for numbers.
 */
static PyObject *py_table_column(PyObject *self, PyObject *arguments)
{
	const struct module *module = py_module_of_type(Py_TYPE(self));
	const struct ArrowArray *batch = shared_array(shared_of(self)), *array;
	const struct ArrowSchema *schema;
	PyObject *values, *known = NULL, *texts = NULL;
	bool is_text;
	Py_ssize_t index;

	if (!PyArg_ParseTuple(arguments, "n", &index) || !py_table_find_column(self, index))
		return NULL;
	schema = shared_schema(shared_of(self))->children[index];
	array = batch ? batch->children[index] : NULL;
	is_text = schema->dictionary;
	values = py_buffer_new(module, self, array ? array->buffers[1] : NULL,
			       array ? (Py_ssize_t)array->length : 0,
			       is_text ? sizeof(int32_t) : sizeof(int64_t),
			       is_text                            ? "i"
			       : strcmp(schema->format, "g") == 0 ? "d"
								  : "q");
	known = array && array->null_count && array->buffers[0]
			? py_buffer_new(module, self, array->buffers[0],
					(Py_ssize_t)((array->length + 7) / 8), 1, "B")
			: Py_NewRef(Py_None);
	texts = !is_text ? Py_NewRef(Py_None) : array ? texts_of(array->dictionary) : PyList_New(0);
	if (values && known && texts)
		return Py_BuildValue("(NNN)", values, known, texts);
	Py_XDECREF(values);
	Py_XDECREF(known);
	Py_XDECREF(texts);
	return NULL;
}

static PyObject *value_at(const struct ArrowArray *array, char format, PyObject *texts, int64_t row)
{
	if (!py_table_is_known(array, row))
		return Py_NewRef(Py_None);
	if (texts)
		return Py_XNewRef(PyList_GetItem(texts, ((const int32_t *)array->buffers[1])[row]));
	if (format == 'g')
		return PyFloat_FromDouble(((const double *)array->buffers[1])[row]);
	return PyLong_FromLongLong(((const int64_t *)array->buffers[1])[row]);
}

static PyObject *list_values(const struct ArrowArray *array, char format, Py_ssize_t from,
			     Py_ssize_t to)
{
	PyObject *texts = array->dictionary ? texts_of(array->dictionary) : NULL;
	PyObject *out = PyList_New(to - from);

	if (!out || (array->dictionary && !texts)) {
		Py_XDECREF(texts);
		Py_XDECREF(out);
		return NULL;
	}
	for (Py_ssize_t row = from; row < to; row++) {
		PyObject *value = value_at(array, format, texts, row);

		if (!value || PyList_SetItem(out, row - from, value) < 0) {
			Py_XDECREF(texts);
			Py_DECREF(out);
			return NULL;
		}
	}
	Py_XDECREF(texts);
	return out;
}

/* The values of a column in rows [from, to), as Python objects. */
static PyObject *py_table_values(PyObject *self, PyObject *arguments)
{
	const struct ArrowArray *batch = shared_array(shared_of(self));
	Py_ssize_t index, from, to;

	if (!PyArg_ParseTuple(arguments, "nnn", &index, &from, &to) ||
	    !py_table_find_column(self, index))
		return NULL;
	if (from < 0 || to < from || to > py_table_length(self)) {
		PyErr_SetString(PyExc_IndexError, "no such rows");
		return NULL;
	}
	if (!batch)
		return PyList_New(0);
	return list_values(batch->children[index],
			   shared_schema(shared_of(self))->children[index]->format[0], from, to);
}

static PyMethodDef methods[] = {
	{ "__arrow_c_stream__", (PyCFunction)(void (*)(void))arrow_stream,
	  METH_VARARGS | METH_KEYWORDS, "The table as an Arrow C stream, without a copy." },
	{ "__arrow_c_schema__", arrow_schema, METH_NOARGS, "The columns as an Arrow C schema." },
	{ "metadata", metadata, METH_NOARGS, "What stands around the rows, by key." },
	{ "fields", py_table_fields, METH_NOARGS, "Name, format and metadata of each column." },
	{ "column", py_table_column, METH_VARARGS,
	  "A column as buffers: values, validity bits, texts." },
	{ "values", py_table_values, METH_VARARGS,
	  "Values of a column as objects, from a row to another." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_new, py_refuse_new },
	{ Py_tp_dealloc, py_table_dealloc },
	{ Py_tp_methods, methods },
	{ Py_sq_length, py_table_length },
	{ Py_tp_doc, (void *)(uintptr_t) "The columns of a table." },
	{ 0, NULL },
};

PyType_Spec table_spec = {
	.name = "stepscope._core.Table",
	.basicsize = sizeof(struct py_table),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = slots,
};
