# SPDX-License-Identifier: Apache-2.0
# nix build 'path:.?dir=packaging/nix' builds the archive of a release (it has the page inside).
{
  description = "Where the time of a training step goes, why, and what to change";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      version = "0.2.0";
      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: {
        default = pkgs.stdenv.mkDerivation {
          pname = "stepscope";
          inherit version;
          src = ../..;
          nativeBuildInputs = with pkgs; [ meson ninja pkg-config python3 ];
          buildInputs = with pkgs; [ isa-l libedit libmicrohttpd libseccomp sqlite zlib zstd ];
          mesonFlags = [ "-Dtests=false" "-Dpython=disabled" ];
          doInstallCheck = true;
          installCheckPhase = "$out/bin/stepscope demo -o demo";
          meta = {
            description = "Where the time of a training step goes, why, and what to change";
            license = pkgs.lib.licenses.asl20;
            mainProgram = "stepscope";
            platforms = systems;
          };
        };
      });
    };
}
