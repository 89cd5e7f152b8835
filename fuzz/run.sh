#!/usr/bin/env bash
# run.sh - fuzzes each target for a while, from a fresh corpus.
#
#     fuzz/run.sh SECONDS [TARGET...]
#
# Builds in ${STEPSCOPE_FUZZ_DIR:-build/fuzz}. Prints one line a target; the input of a finding is
# kept in fuzz/crashes. Exits 1 when there was one.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

# Debian's meson needs Debian's Python: shims must not stand before them.
export PATH=/usr/bin:$PATH
seconds=${1:?usage: fuzz/run.sh SECONDS [TARGET...]}
shift
targets=("$@")
((${#targets[@]})) || targets=(fuzz_kineto fuzz_blocks fuzz_gzip fuzz_number_json
	fuzz_pack fuzz_pickle fuzz_redact fuzz_rewrite fuzz_serve)
dir=$(realpath -m "${STEPSCOPE_FUZZ_DIR:-build/fuzz}")
report='does not hold|the two loads|runtime error|ERROR: |^one block|bytes say'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() {
	[[ -f $dir/build.ninja ]] ||
		CC=clang meson setup "$dir" --buildtype=debugoptimized -Dfuzz=enabled \
			-Db_sanitize=address,undefined -Db_lundef=false
	ninja -C "$dir" "${targets[@]/#/fuzz/}"
}

# Prints what the fuzzer found: from the first line of the report to the end of the first stack.
show_finding() {
	local line
	line=$(grep -m 1 -n -E "$report" "$1" | cut -d : -f 1)
	tail -n "+${line:-1}" "$1" | head -n 25 | sed 's/^/    /'
}

fuzz() {
	local target=$1 log=$work/$1.log before runs words=fuzz/${1#fuzz_}.dict
	[[ -f $words ]] || words=fuzz/kineto.dict
	before=$(ls fuzz/crashes | grep "^$target-" || true)
	if "$dir/fuzz/$target" -max_total_time="$seconds" -max_len=65536 -timeout=10 \
		-rss_limit_mb=2048 -dict="$words" -artifact_prefix="fuzz/crashes/$target-" \
		"$work/corpus/$target" "fuzz/regressions/$target" >"$log" 2>&1; then
		runs=$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log")
		echo "fuzz $target: $runs runs, no findings"
		return
	fi
	echo "fuzz $target: a finding, kept in fuzz/crashes:"
	comm -13 <(echo "$before") <(ls fuzz/crashes | grep "^$target-") | sed 's/^/    /'
	show_finding "$log"
	return 1
}

build >"$work/build.log" 2>&1 || {
	tail -n 40 "$work/build.log"
	exit 1
}
python3 fuzz/make_corpus.py "$work/corpus"
mkdir -p fuzz/crashes
# as many at a time as there are cores
failed=0
running=0
for target in "${targets[@]}"; do
	if ((running == $(nproc))); then
		wait -n || failed=1
		running=$((running - 1))
	fi
	fuzz "$target" &
	running=$((running + 1))
done
while ((running > 0)); do
	wait -n || failed=1
	running=$((running - 1))
done
exit "$failed"
