#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - fuzzes each target for a while, from the corpus that earlier runs left.
#
#     fuzz/run.sh SECONDS [TARGET...]         as many at a time as there are cores
#     fuzz/run.sh --minutes N [TARGET...]     one after the other: figures of a quiet machine
#     fuzz/run.sh --runs N [TARGET...]        N runs from the corpus of git; 0: its inputs alone
#     fuzz/run.sh merge [TARGET...]           keeps of the corpus what reaches something of its own
#     fuzz/run.sh keep [TARGET...]            packs the smallest inputs into fuzz/corpus, for git
#
# Builds in ${STEPSCOPE_FUZZ_DIR:-build/fuzz}; the corpus lies there, in corpus/TARGET, and begins
# with what fuzz/corpus has. Inputs are at most ${STEPSCOPE_FUZZ_BYTES:-262144} long. Prints a row
# per target: runs, runs per second, findings. The input of a finding is kept in fuzz/crashes. Exits
# 1 when there was one.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

# Debian's meson needs Debian's Python: shims must not stand before them.
export PATH=/usr/bin:$PATH
seconds=${1:?usage: fuzz/run.sh SECONDS|--minutes N|--runs N|merge|keep [TARGET...]}
shift
at_once=$(nproc)
length=(-max_total_time="$seconds")
if [[ $seconds == --runs ]]; then
	length=(-runs="${1:?fuzz/run.sh --runs N}" -seed=1 -reload=0)
	shift
fi
if [[ $seconds == --minutes ]]; then
	seconds=$((60 * ${1:?fuzz/run.sh --minutes N}))
	length=(-max_total_time="$seconds")
	at_once=1
	shift
fi
targets=("$@")
((${#targets[@]})) ||
	mapfile -t targets < <(sed -n "s/^  '\(fuzz_[a-z_]*\)',\$/\1/p" fuzz/meson.build)
dir=$(realpath -m "${STEPSCOPE_FUZZ_DIR:-build/fuzz}")
max_bytes=${STEPSCOPE_FUZZ_BYTES:-262144}
# 16 targets of at most this many bytes are less than a megabyte
kept_bytes=60000
report='does not hold|the two loads|runtime error|ERROR: |^one block|bytes say'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# what was freed is not used again for some time, not for as long as there is memory: page faults
# take a tenth of a run. libFuzzer's counting of rare features takes up to half of one.
export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=16:malloc_context_size=12}
duckdb=$PWD/ui/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so
[[ ! -f $duckdb ]] || export STEPSCOPE_DUCKDB=${STEPSCOPE_DUCKDB:-$duckdb}

build() {
	[[ -f $dir/build.ninja ]] ||
		CC=${CC:-clang} meson setup "$dir" --buildtype=debugoptimized -Dfuzz=enabled \
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

# "fuzz_job 5023 83 0": of the last line that says how far it is
show_row() {
	local runs
	runs=$(sed -n 's/^#\([0-9]*\)[[:space:]].*/\1/p; s/^Done \([0-9]*\) runs.*/\1/p' "$3" |
		tail -n 1)
	printf '%-18s %12d %10d %9d\n' "$1" "${runs:-0}" \
		"$((${runs:-0} / (SECONDS - $2 > 0 ? SECONDS - $2 : 1)))" "$4"
}

fuzz() {
	local target=$1 log=$work/$1.log before begin=$SECONDS words=fuzz/${1#fuzz_}.dict
	[[ -f $words ]] || words=fuzz/kineto.dict
	before=$(ls fuzz/crashes | grep "^$target-" || true)
	if "$dir/fuzz/$target" "${length[@]}" -max_len="$max_bytes" -timeout=25 \
		-entropic=0 -rss_limit_mb=2048 -dict="$words" \
		-artifact_prefix="$PWD/fuzz/crashes/$target-" \
		"$dir/corpus/$target" "$work/seeds/$target" "fuzz/regressions/$target" \
		>"$log" 2>&1; then
		show_row "$target" "$begin" "$log" 0
		return
	fi
	show_row "$target" "$begin" "$log" 1
	echo "$target: a finding, kept in fuzz/crashes:"
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
		-artifact_prefix="$PWD/fuzz/crashes/$target-" "$new" "$old" \
		>"$work/$target.log" 2>&1; then
		echo "merge $target: failed"
		show_finding "$work/$target.log"
		return 1
	fi
	echo "merge $target: $(size_of "$old"); now $(size_of "$new")"
	rm -rf "$old"
	mv "$new" "$old"
}

# The first inputs by size, as many as fit: halves the list until they do.
keep() {
	local target=$1 count packed=$work/$1.tar.xz
	(cd "$dir/corpus/$target" && find . -type f -printf '%s %f\n' | sort -n | cut -d ' ' -f 2) \
		>"$work/$target.list"
	count=$(wc -l <"$work/$target.list")
	while ((count > 0)); do
		head -n "$count" "$work/$target.list" |
			tar -C "$dir/corpus/$target" -c --sort=name --mtime=@0 --owner=0 --group=0 \
				--numeric-owner -T - | xz -9e >"$packed"
		(($(stat -c %s "$packed") > kept_bytes)) || break
		count=$((count * 4 / 5))
	done
	((count > 0)) || return 0
	mkdir -p fuzz/corpus
	mv "$packed" "fuzz/corpus/$target.tar.xz"
	echo "keep $target: $count inputs, $(stat -c %s "fuzz/corpus/$target.tar.xz") bytes"
}

unpack() { # a corpus that is new begins with the one of git
	[[ $seconds != --runs ]] || rm -rf "$dir/corpus/$1"
	mkdir -p "$dir/corpus/$1"
	[[ ! -f fuzz/corpus/$1.tar.xz || -n $(ls -A "$dir/corpus/$1") ]] ||
		tar -C "$dir/corpus/$1" -xJf "fuzz/corpus/$1.tar.xz"
}

build >"$work/build.log" 2>&1 || {
	tail -n 40 "$work/build.log"
	exit 1
}
python3 fuzz/make_corpus.py "$work/seeds"
mkdir -p fuzz/crashes
for target in "${targets[@]}"; do
	unpack "$target"
done
job=fuzz
case $seconds in
merge | keep) job=$seconds ;;
*) printf '%-18s %12s %10s %9s\n' target runs runs/s findings ;;
esac
failed=0
running=0
for target in "${targets[@]}"; do
	if ((running == at_once)); then
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
