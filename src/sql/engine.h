/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - the functions of DuckDB that stepscope calls, loaded at run time.
 *
 * The list has only functions that DuckDB's C interface declares stable since 1.2.0, so that every
 * newer library works, too. The declarations are repeated here because the packages that users
 * install have no header.
 */
#ifndef SS_SQL_ENGINE_H
#define SS_SQL_ENGINE_H

#include "base/error.h"

typedef void *duck_handle;
typedef void duck_delete(void *data);
typedef void duck_bind(duck_handle info);
typedef void duck_init(duck_handle info);
typedef void duck_scan(duck_handle info, duck_handle chunk);

/* Passed by value; only DuckDB reads it. */
struct duck_result {
	uint64_t column_count, row_count, rows_changed;
	void *columns;
	char *message;
	void *internal;
};

/* A text in a vector: short texts are stored inline. */
union duck_text {
	uint32_t length;
	struct {
		uint32_t length;
		char text[12];
	} inlined;
	struct {
		uint32_t length;
		char prefix[4];
		const char *text;
	} apart;
};

#define DUCK_INLINED 12

struct duck_huge {
	uint64_t lower;
	int64_t upper;
};

enum duck_type {
	DUCK_BOOLEAN = 1,
	DUCK_TINYINT,
	DUCK_SMALLINT,
	DUCK_INTEGER,
	DUCK_BIGINT,
	DUCK_UTINYINT,
	DUCK_USMALLINT,
	DUCK_UINTEGER,
	DUCK_UBIGINT,
	DUCK_FLOAT,
	DUCK_DOUBLE,
	DUCK_HUGEINT = 16,
	DUCK_VARCHAR = 17,
	DUCK_DECIMAL = 19,
	DUCK_ENUM = 23,
	DUCK_NULL = 36,
};

enum duck_pending {
	DUCK_PENDING_READY,
	DUCK_PENDING_WORKING,
	DUCK_PENDING_FAILED,
	DUCK_PENDING_WAITING, /* other threads have all tasks */
};

/* What a statement produces. */
enum duck_returns {
	DUCK_RETURNS_ROWS = 3,
};

/* F(return type, name without "duckdb_", parameters). */
#define DUCK_FUNCTIONS(F)                                                                          \
	F(const char *, library_version, (void))                                                   \
	F(void, free, (void *block))                                                               \
	F(int, create_config, (duck_handle * out))                                                 \
	F(int, set_config, (duck_handle config, const char *name, const char *value))              \
	F(void, destroy_config, (duck_handle * config))                                            \
	F(int, open_ext, (const char *path, duck_handle *out, duck_handle config, char **problem)) \
	F(void, close, (duck_handle * database))                                                   \
	F(int, connect, (duck_handle database, duck_handle * out))                                 \
	F(void, interrupt, (duck_handle connection))                                               \
	F(void, disconnect, (duck_handle * connection))                                            \
	F(int, query, (duck_handle connection, const char *text, struct duck_result *out))         \
	F(int, prepare, (duck_handle connection, const char *text, duck_handle *out))              \
	F(const char *, prepare_error, (duck_handle statement))                                    \
	F(uint64_t, nparams, (duck_handle statement))                                              \
	F(void, destroy_prepare, (duck_handle * statement))                                        \
	F(int, pending_prepared_streaming, (duck_handle statement, duck_handle * out))             \
	F(int, pending_execute_task, (duck_handle pending))                                        \
	F(const char *, pending_error, (duck_handle pending))                                      \
	F(int, execute_pending, (duck_handle pending, struct duck_result * out))                   \
	F(void, destroy_pending, (duck_handle * pending))                                          \
	F(const char *, result_error, (struct duck_result * result))                               \
	F(int, result_return_type, (struct duck_result result))                                    \
	F(uint64_t, column_count, (struct duck_result * result))                                   \
	F(const char *, column_name, (struct duck_result * result, uint64_t column))               \
	F(duck_handle, column_logical_type, (struct duck_result * result, uint64_t column))        \
	F(duck_handle, fetch_chunk, (struct duck_result result))                                   \
	F(void, destroy_result, (struct duck_result * result))                                     \
	F(duck_handle, create_logical_type, (int type))                                            \
	F(duck_handle, create_enum_type, (const char **names, uint64_t count))                     \
	F(int, get_type_id, (duck_handle type))                                                    \
	F(uint8_t, decimal_scale, (duck_handle type))                                              \
	F(int, decimal_internal_type, (duck_handle type))                                          \
	F(int, enum_internal_type, (duck_handle type))                                             \
	F(uint32_t, enum_dictionary_size, (duck_handle type))                                      \
	F(char *, enum_dictionary_value, (duck_handle type, uint64_t index))                       \
	F(void, destroy_logical_type, (duck_handle * type))                                        \
	F(void, destroy_data_chunk, (duck_handle * chunk))                                         \
	F(duck_handle, data_chunk_get_vector, (duck_handle chunk, uint64_t column))                \
	F(uint64_t, data_chunk_get_size, (duck_handle chunk))                                      \
	F(void, data_chunk_set_size, (duck_handle chunk, uint64_t rows))                           \
	F(void *, vector_get_data, (duck_handle vector))                                           \
	F(uint64_t *, vector_get_validity, (duck_handle vector))                                   \
	F(void, vector_ensure_validity_writable, (duck_handle vector))                             \
	F(void, vector_assign_string_element_len,                                                  \
	  (duck_handle vector, uint64_t row, const char *text, uint64_t length))                   \
	F(uint64_t, vector_size, (void))                                                           \
	F(duck_handle, create_table_function, (void))                                              \
	F(void, destroy_table_function, (duck_handle * function))                                  \
	F(void, table_function_set_name, (duck_handle function, const char *name))                 \
	F(void, table_function_add_named_parameter,                                                \
	  (duck_handle function, const char *name, duck_handle type))                              \
	F(void, table_function_set_extra_info,                                                     \
	  (duck_handle function, void *extra, duck_delete *release))                               \
	F(void, table_function_set_bind, (duck_handle function, duck_bind * bind))                 \
	F(void, table_function_set_init, (duck_handle function, duck_init * init))                 \
	F(void, table_function_set_local_init, (duck_handle function, duck_init * init))           \
	F(void, table_function_set_function, (duck_handle function, duck_scan * scan))             \
	F(void, table_function_supports_projection_pushdown, (duck_handle function, bool does))    \
	F(int, register_table_function, (duck_handle connection, duck_handle function))            \
	F(void *, bind_get_extra_info, (duck_handle info))                                         \
	F(void, bind_add_result_column, (duck_handle info, const char *name, duck_handle type))    \
	F(duck_handle, bind_get_named_parameter, (duck_handle info, const char *name))             \
	F(void, bind_set_bind_data, (duck_handle info, void *data, duck_delete *release))          \
	F(void, bind_set_cardinality, (duck_handle info, uint64_t rows, bool is_exact))            \
	F(void, bind_set_error, (duck_handle info, const char *problem))                           \
	F(char *, get_varchar, (duck_handle value))                                                \
	F(int64_t, get_int64, (duck_handle value))                                                 \
	F(bool, is_null_value, (duck_handle value))                                                \
	F(void, destroy_value, (duck_handle * value))                                              \
	F(void *, init_get_bind_data, (duck_handle info))                                          \
	F(void, init_set_init_data, (duck_handle info, void *data, duck_delete *release))          \
	F(uint64_t, init_get_column_count, (duck_handle info))                                     \
	F(uint64_t, init_get_column_index, (duck_handle info, uint64_t column))                    \
	F(void, init_set_max_threads, (duck_handle info, uint64_t threads))                        \
	F(void, init_set_error, (duck_handle info, const char *problem))                           \
	F(void *, function_get_bind_data, (duck_handle info))                                      \
	F(void *, function_get_init_data, (duck_handle info))                                      \
	F(void *, function_get_local_init_data, (duck_handle info))                                \
	F(void, function_set_error, (duck_handle info, const char *problem))

struct ss_engine {
	void *library;
#define DUCK_MEMBER(returns, name, parameters) returns(*name) parameters;
	DUCK_FUNCTIONS(DUCK_MEMBER)
#undef DUCK_MEMBER
};

/* The value of a variable of the environment, as getenv(): where installers put DuckDB. */
typedef char *engine_variable(const char *name);

/*
 * Loads the library: from `path` (a file, or a folder that has it; absolute) if given; otherwise
 * from beside the program, from the system's libraries, or from where installers put it; `variable`
 * may be NULL. The error says how to get it. A process loads it once; later calls return at once.
 */
SS_MUST_USE
enum ss_status ss_engine_load(const char *path, engine_variable *variable, struct ss_error *err);

/* The file that was loaded; empty: none was. */
const char *ss_engine_path(void);

/* The functions; load the engine first. */
const struct ss_engine *ss_engine(void);

#endif
