/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.c - the values of a column as a Python buffer, which numpy.frombuffer() reads in place.
 */
#include "python/module.h"

struct buffer {
	PyObject_HEAD PyObject *owner;
	const void *bytes;
	Py_ssize_t count, item;
	char format[2];
};

PyObject *py_buffer_new(const struct module *module, PyObject *owner, const void *bytes,
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

static PyType_Slot slots[] = {
	{ Py_tp_dealloc, py_buffer_dealloc },
	{ Py_bf_getbuffer, py_buffer_lend },
	{ Py_tp_doc, (void *)(uintptr_t) "The bytes of a column." },
	{ 0, NULL },
};

PyType_Spec buffer_spec = {
	.name = "stepscope._core.Buffer",
	.basicsize = sizeof(struct buffer),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = slots,
};
