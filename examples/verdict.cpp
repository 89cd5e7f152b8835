// SPDX-License-Identifier: Apache-2.0
// verdict.cpp - what makes the step slow, from C++17: verdict PATH...
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <stepscope.h>

namespace {

struct Close {
	void operator()(ss_session *session) const { ss_session_close(session); }
};

using Session = std::unique_ptr<ss_session, Close>;

// Bytes that go with their owner.
struct Text : ss_text {
	Text() : ss_text{} {}
	Text(const Text &) = delete;
	Text &operator=(const Text &) = delete;
	~Text() { ss_text_release(this); }

	std::string_view view() const { return { data ? data : "", length }; }
};

// Throws what a call says when it fails.
void check(ss_status status, const ss_error &error)
{
	if (status != SS_OK)
		throw std::runtime_error(error.text);
}

Session open(const std::vector<const char *> &paths)
{
	ss_open_options options{};
	ss_session *session = nullptr;
	ss_error error{};

	options.size = sizeof(options);
	options.paths = paths.data();
	options.path_count = paths.size();
	options.reduce = true;   // the memory of one trace a thread is enough for a verdict,
	options.diagnose = true; // which is made of what is kept of each
	check(ss_session_open(&options, &session, &error), error);
	return Session(session);
}

std::string diagnose(ss_session *session)
{
	ss_request request{};
	ss_error error{};
	Text out;

	request.size = sizeof(request);
	request.what = "diagnose";
	request.format = "text";
	check(ss_session_run(session, &request, &out, &error), error);
	return std::string(out.view());
}

} // namespace

int main(int argc, char **argv)
try {
	const Session session = open({ argv + 1, argv + argc });

	std::fputs(diagnose(session.get()).c_str(), stdout);
	return 0;
} catch (const std::exception &problem) {
	std::fprintf(stderr, "verdict: %s\n", problem.what());
	return 1;
}
