# frozen_string_literal: true

# SPDX-License-Identifier: Apache-2.0
# stepscope for Homebrew on Linux.
class Stepscope < Formula
  desc "Where the time of a training step goes, why, and what to change"
  homepage "https://github.com/stepscope/stepscope"
  url "https://github.com/stepscope/stepscope/releases/download/v0.2.0/stepscope-0.2.0.tar.xz"
  # tools/release puts the sum of the archive in
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "meson" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "python@3.13" => :build
  depends_on "isa-l"
  depends_on "libmicrohttpd"
  depends_on :linux
  depends_on "zstd"

  def install
    system "meson", "setup", "build", "-Dtests=false", "-Dpython=disabled", *std_meson_args
    system "meson", "compile", "-C", "build", "--verbose"
    system "meson", "install", "-C", "build"
  end

  test do
    assert_match "The fixes below would save", shell_output("#{bin}/stepscope demo -o demo")
  end
end
