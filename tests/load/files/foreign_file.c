/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are no traces: told by their first bytes, else by their name; nothing that can be
 * read is called a stranger. tests/cli/wrong_inputs.py has real files of all kinds.
 */
#include "support/support.h"

#include "load/files/find.h"

#define BYTES(text) text, sizeof(text) - 1

static const struct {
	const char *what;
	const char *bytes;
	size_t length;
	const char *name;
	bool takes_pickles;
	const char *sentence; /* NULL: it is no stranger */
} cases[] = {
	{ "a pickle", BYTES("\x80\x04\x95xxxxxxxx"), NULL, false, "pickle" },
	{ "an old pickle", BYTES("\x80\x02}q\x01xxxx"), NULL, false, "pickle" },
	{ "a pickle where it is taken", BYTES("\x80\x04\x95xxxxxxxx"), NULL, true, NULL },
	{ "a pickle of protocol 0", BYTES("(dp0\nS'segments'\np1\n"), NULL, true, NULL },
	{ "a pickle that looks like text", BYTES("(S'id'\nios\nsystem\n."), "a.pickle", true,
	  NULL },
	{ "the same under another name", BYTES("(S'id'\nios\nsystem\n."), "a.txt", true, "text" },
	{ "a checkpoint is no snapshot",
	  BYTES("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."), NULL, true,
	  "torch.save" },
	{ "a zip archive", BYTES("PK\x03\x04xxxx"), NULL, false, "zip" },
	{ "a zip archive of torch.save()", BYTES("PK\x03\x04xxxx/data.pkl"), NULL, false,
	  "torch.save" },
	{ "a database", BYTES("SQLite format 3"), NULL, false, "SQLite" },
	{ "half of a magic", BYTES("SQ"), NULL, false, "text" },
	{ "bzip2", BYTES("BZh91AY&SY"), NULL, false, "bzip2" },
	{ "Perfetto's own format", BYTES("\x0a\x8c\x01\x0a\x02"), NULL, false, "Perfetto" },
	{ "a short packet, by its name", BYTES("\x0a\x10\x50\x01"), "a.pftrace", false,
	  "Perfetto" },
	{ "a short packet without a name", BYTES("\x0a\x10\x50\x01"), NULL, false, NULL },
	{ "a name that counts without regard to case", BYTES("\x01\x02"), "A.NSYS-REP", false,
	  "Nsight Systems" },
	{ "a name of which nothing is known", BYTES("\x01\x02"), "a.dat", false, NULL },
	{ "JSON under any name", BYTES("{}"), "a.nsys-rep", false, NULL },
	{ "JSON after a newline", BYTES("\n{\"traceEvents\":[]}"), "a.html", false, NULL },
	{ "JSON after newline and space", BYTES("\n  [1]"), NULL, false, NULL },
	{ "JSON after a byte order mark", BYTES("\xef\xbb\xbf{}"), NULL, false, NULL },
	{ "a pack", BYTES("\x89SSPACK\n"), NULL, false, NULL },
	{ "text with a letter that was cut", BYTES("loss: 2.3 \xc3"), NULL, false, "text" },
	{ "zeros", BYTES("\0\0\0\0\0\0\0\0\0\0"), NULL, false, NULL },
	{ "one byte", BYTES("\x80"), NULL, false, NULL },
	{ "white space", BYTES(" \n\t"), "a.html", false, NULL },
	{ "nothing", "", 0, "a.tar", false, NULL },
};

static void test_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		const char *told = ss_foreign_file(cases[i].bytes, cases[i].length, cases[i].name,
						   cases[i].takes_pickles);

		if (cases[i].sentence)
			support_check(told && strstr(told, cases[i].sentence), cases[i].what,
				      "'%s'", told ? told : "no stranger");
		else
			support_check(!told, cases[i].what, "'%s'", told);
	}
}

static void test_urls(void **state)
{
	(void)state;
	assert_non_null(strstr(ss_foreign_url("https://host/x.json"), "curl"));
	assert_non_null(strstr(ss_foreign_url("S3://bucket/x.json"), "aws s3 cp"));
	assert_non_null(strstr(ss_foreign_url("other://x"), "download"));
	assert_null(ss_foreign_url("traces/x.json"));
	assert_null(ss_foreign_url("http.json"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_urls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
