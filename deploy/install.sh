#!/bin/sh
# Installs companiond: finds what this machine needs, downloads it, checks it, and installs it.
#
#   curl -fsSL https://releases.example.com/install.sh | sh
#   curl -fsSL https://releases.example.com/install.sh | sh -s -- --to ~/bin
#
# Checks the SHA-256 sum and, with OpenSSL 3, the signature of the sums. Nothing is left behind if it fails.
set -eu

# The release build sets these.
base_url=''
public_key=''

fail() {
  printf 'install: %s\n' "$1" >&2
  exit 1
}

usage() {
  cat <<'TEXT'
Usage: install.sh [--from URL] [--to DIR]

  --from URL  Where the files of the release are (as the release says).
  --to DIR    Where companiond goes: /usr/local/bin, or ~/.local/bin unless you are root.
TEXT
}

# Sets `target` to the name of the build for this machine.
find_target() {
  system=$(uname -s)
  case $(uname -m) in
    x86_64 | amd64) processor=x64 ;;
    aarch64 | arm64) processor=arm64 ;;
    *) fail "there is no build for $(uname -m) processors. There are builds for x86-64 and ARM64." ;;
  esac
  case $system in
    Linux) target=linux-$processor ;;
    Darwin) target=darwin-$processor ;;
    *) fail "there is no build for $system that this script can install. There are builds for Linux and macOS; for Windows, download companiond-windows-x64.exe." ;;
  esac
  if [ "$system" = Linux ] && is_musl; then target=$target-musl; fi
}

is_musl() {
  case $(ldd --version 2>&1 || true) in
    *musl*) return 0 ;;
    *GNU* | *GLIBC* | *glibc*) return 1 ;;
  esac
  for loader in /lib/ld-musl-*.so.1; do
    if [ -e "$loader" ]; then return 0; fi
  done
  return 1
}

# HTTPS only, but for this machine itself.
check_url() {
  case $1 in
    # What looks like a host may be a user's name.
    *@* | *[?#]*) fail "$1 must be a plain address, without a user or a query." ;;
    https://?*) protocol='=https' ;;
    http://127.0.0.1[:/]* | http://localhost[:/]* | 'http://[::1]'[:/]*) protocol='=http' ;;
    *) fail "$1 is not an https address." ;;
  esac
}

download() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --proto "$protocol" --connect-timeout 20 --retry 2 \
      --speed-limit 1000 --speed-time 30 --output "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -T 30 -O "$2" "$1"
  else
    fail 'neither curl nor wget is here. Install one of them.'
  fi || fail "$1 could not be downloaded."
}

sum_of() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1"
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1"
  else
    fail 'neither sha256sum nor shasum is here, so the download cannot be checked.'
  fi | cut -d ' ' -f 1
}

# The sums must be the release's own: signed by its key, if this copy has it.
check_signature() {
  if [ -z "$public_key" ]; then
    echo 'This release is not signed: only its checksums are checked.'
    return
  fi
  case $(openssl version 2>/dev/null || true) in
    'OpenSSL '[3-9]* | 'OpenSSL '[1-9][0-9]*) ;;
    *)
      echo 'OpenSSL 3 is not here, so the signature is not checked; the checksum is.'
      return
      ;;
  esac
  download "$base_url/SHA256SUMS.sig" "$work/signature"
  printf -- '-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n' "$public_key" >"$work/key.pem"
  openssl base64 -d -A -in "$work/signature" -out "$work/signature.bin"
  openssl pkeyutl -verify -pubin -inkey "$work/key.pem" -rawin -in "$work/SHA256SUMS" \
    -sigfile "$work/signature.bin" >/dev/null 2>&1 ||
    fail 'the signature of SHA256SUMS is wrong, so nothing was installed. Get the release from where its makers publish it.'
}

main() {
  directory=''
  while [ $# -gt 0 ]; do
    case $1 in
      --help) usage && exit 0 ;;
      --from | --to)
        [ $# -gt 1 ] || fail "$1 needs a value."
        if [ "$1" = --from ]; then base_url=$2; else directory=$2; fi
        shift 2
        ;;
      *) fail "unknown option $1. There are --from URL, --to DIR and --help." ;;
    esac
  done
  [ -n "$base_url" ] || fail 'this copy does not know where the files are. Say so with --from URL.'
  base_url=${base_url%/}
  check_url "$base_url/"
  find_target
  if [ -z "$directory" ]; then
    if [ "$(id -u)" -eq 0 ]; then directory=/usr/local/bin; else directory=$HOME/.local/bin; fi
  fi
  [ ! -d "$directory/companiond" ] || fail "$directory/companiond is a directory. Install elsewhere with --to DIR."
  mkdir -p "$directory" || fail "$directory could not be created."
  # In the same folder, so that the last step is a rename: there is never half a file of that name.
  work=$(mktemp -d "$directory/.companiond-install.XXXXXX") || fail "nothing can be written to $directory."
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP

  echo "Downloading companiond-$target from $base_url."
  download "$base_url/SHA256SUMS" "$work/SHA256SUMS"
  check_signature
  expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  companiond-$target\$/\1/p" "$work/SHA256SUMS")
  [ -n "$expected" ] || fail "this release has no companiond-$target."
  download "$base_url/companiond-$target" "$work/companiond"
  [ "$(sum_of "$work/companiond")" = "$expected" ] ||
    fail "the checksum of companiond-$target is wrong, so nothing was installed. Try again later."

  chmod 755 "$work/companiond"
  if ! version=$("$work/companiond" version 2>"$work/errors"); then
    cat "$work/errors" >&2
    case $target in *-musl) echo 'On Alpine Linux: apk add libstdc++' >&2 ;; esac
    fail 'it does not run on this machine, so nothing was installed.'
  fi
  mv -f "$work/companiond" "$directory/companiond"

  echo "Installed $directory/companiond: $version"
  case ":$PATH:" in
    *":$directory:"*) command=companiond ;;
    *)
      command=$directory/companiond
      echo "$directory is not in your PATH: add it, or give the whole path."
      ;;
  esac
  echo "Try it with: $command serve --demo"
}

# Last and in braces, so that no part of this script does anything.
{ main "$@"; }
