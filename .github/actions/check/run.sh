#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs 'stepscope check' with the inputs of the action, which come as CHECK_NAME=value. Texts are
# never part of a command line that a shell reads.
set -uo pipefail

words=(check --github --threshold "${CHECK_THRESHOLD:-2%}" --name "${CHECK_NAME:-training}")
# one option per line of a text
add_lines() {
	local line
	while IFS= read -r line; do
		[ -z "${line//[[:space:]]/}" ] || words+=("$1=$line")
	done <<<"$2"
}
add_lines --against "${CHECK_AGAINST:-}"
add_lines --fail-if "${CHECK_FAIL_IF:-}"
for format in junit sarif bencher benchmark; do
	file=CHECK_${format^^}
	[ -z "${!file:-}" ] || words+=("--$format=${!file}")
done
[ "${CHECK_ALLOW_INCONCLUSIVE:-}" != true ] || words+=(--allow-inconclusive)

result=$(mktemp)
trap 'rm -f "$result"' EXIT
"${STEPSCOPE:-stepscope}" "${words[@]}" -- "${CHECK_PATH:?path is missing}" | tee "$result"
code=${PIPESTATUS[0]}
verdict=$(sed -n '1s/^\(Pass\|Regression\|Improvement\|Inconclusive\|Failed\):.*/\1/p' "$result")
verdict=${verdict:-error}
verdict=${verdict/Failed/fail}
echo "verdict=${verdict,,}" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$code"
