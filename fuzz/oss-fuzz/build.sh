#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
# build.sh - builds all fuzz targets as OSS-Fuzz wants them.
#
# Takes $CC, $CXX, $CFLAGS, $CXXFLAGS and $LIB_FUZZING_ENGINE, works in $WORK, and leaves in $OUT
# each target with its seeds, words and options. The image that runs them has no libraries of ours:
# zlib and zstd are linked statically (ISA-L is left out, Debian has no static one). To try it:
#
#     env CC=clang CXX=clang++ CFLAGS='-g -O1 -fsanitize=address,fuzzer-no-link' \
#         CXXFLAGS='-g -O1 -fsanitize=address,fuzzer-no-link' \
#         LIB_FUZZING_ENGINE=-fsanitize=fuzzer STEPSCOPE_SOURCE=. WORK=/tmp/work OUT=/tmp/out \
#         fuzz/oss-fuzz/build.sh
cd "${STEPSCOPE_SOURCE:-$SRC/stepscope}"

build=$WORK/stepscope
seeds=$WORK/seeds
rm -rf "$build" "$seeds"
mkdir -p "$OUT"
mapfile -t targets < <(sed -n "s/^  '\(fuzz_[a-z_]*\)',\$/\1/p" fuzz/meson.build)

meson setup "$build" --buildtype=plain --default-library=static \
	-Dprefer_static=true -Dwerror=false -Db_lundef=false \
	-Dfuzz=enabled -Dfuzz_engine="$LIB_FUZZING_ENGINE" \
	-Disal=disabled -Dzlib=enabled -Dzstd=enabled -Dserve=disabled -Dseccomp=disabled
ninja -C "$build" "${targets[@]/#/fuzz/}"

python3 fuzz/make_corpus.py "$seeds"
for target in "${targets[@]}"; do
	words=fuzz/${target#fuzz_}.dict
	[[ -f $words ]] || words=fuzz/kineto.dict
	cp "$build/fuzz/$target" "$OUT/"
	cp "$words" "$OUT/$target.dict"
	cp "fuzz/regressions/$target"/* "$seeds/$target/"
	(cd "$seeds/$target" && python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" *)
	printf '[libfuzzer]\nmax_len = 262144\ntimeout = 25\n' >"$OUT/$target.options"
done
