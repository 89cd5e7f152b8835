#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - fuzzes each target for a while, from the corpus that earlier runs left.
#
#     fuzz/run.sh SECONDS [TARGET...]
#     fuzz/run.sh merge [TARGET...]     keeps of the corpus only what reaches something of its own
#
# Builds in ${STEPSCOPE_FUZZ_DIR:-build/fuzz}; the corpus lies there, in corpus/TARGET. Inputs are
# at most ${STEPSCOPE_FUZZ_BYTES:-262144} long. Prints one line a target; the input of a finding is
# kept in fuzz/crashes. Exits 1 when there was one.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

# Debian's meson needs Debian's Python: shims must not stand before them.
export PATH=/usr/bin:$PATH
seconds=${1:?usage: fuzz/run.sh SECONDS|merge [TARGET...]}
shift
targets=("$@")
((${#targets[@]})) ||
	mapfile -t targets < <(sed -n "s/^  '\(fuzz_[a-z_]*\)',\$/\1/p" fuzz/meson.build)
dir=$(realpath -m "${STEPSCOPE_FUZZ_DIR:-build/fuzz}")
max_bytes=${STEPSCOPE_FUZZ_BYTES:-262144}
report='does not hold|the two loads|runtime error|ERROR: |^one block|bytes say'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() {
	[[ -f $dir/build.ninja ]] ||
		CC=clang meson setup "$dir" --buildtype=debugoptimized -Dfuzz=enabled \
			-Db_sanitize=address,undefined -Db_lundef=false \
			-Dc_args=-fsanitize=float-cast-overflow
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
	if "$dir/fuzz/$target" -max_total_time="$seconds" -max_len="$max_bytes" -timeout=25 \
		-rss_limit_mb=2048 -dict="$words" -artifact_prefix="fuzz/crashes/$target-" \
		"$dir/corpus/$target" "$work/seeds/$target" "fuzz/regressions/$target" \
		>"$log" 2>&1; then
		runs=$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log")
		echo "fuzz $target: $runs runs, no findings"
		return
	fi
	echo "fuzz $target: a finding, kept in fuzz/crashes:"
	comm -13 <(echo "$before") <(ls fuzz/crashes | grep "^$target-") | sed 's/^/    /'
	show_finding "$log"
	return 1
}

size_of() {
	echo "$(find "$1" -type f | wc -l) files, $(du -sk "$1" | cut -f 1) kB"
}

# A corpus of the smallest inputs that together reach all that the old one does.
merge() {
	local target=$1 old=$dir/corpus/$1 new=$work/merged/$1
	mkdir -p "$new"
	if ! "$dir/fuzz/$target" -merge=1 -max_len="$max_bytes" -timeout=25 -rss_limit_mb=2048 \
		-artifact_prefix="fuzz/crashes/$target-" "$new" "$old" \
		>"$work/$target.log" 2>&1; then
		echo "merge $target: failed"
		show_finding "$work/$target.log"
		return 1
	fi
	echo "merge $target: $(size_of "$old"); now $(size_of "$new")"
	rm -rf "$old"
	mv "$new" "$old"
}

build >"$work/build.log" 2>&1 || {
	tail -n 40 "$work/build.log"
	exit 1
}
python3 fuzz/make_corpus.py "$work/seeds"
mkdir -p fuzz/crashes "${targets[@]/#/$dir/corpus/}"
job=fuzz
[[ $seconds != merge ]] || job=merge
# as many at a time as there are cores
failed=0
running=0
for target in "${targets[@]}"; do
	if ((running == $(nproc))); then
		wait -n || failed=1
		running=$((running - 1))
	fi
	"$job" "$target" &
	running=$((running + 1))
done
while ((running > 0)); do
	wait -n || failed=1
	running=$((running - 1))
done
exit "$failed"
