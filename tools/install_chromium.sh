#!/bin/sh
# Install Chromium from the system's packages, unless there is one: the report is tested in it.
set -eu

if [ -n "${CHROMIUM:-}" ]; then
    [ -x "$CHROMIUM" ] && exit 0
    echo "CHROMIUM is '$CHROMIUM', which is not a program that can be run." >&2
    exit 1
fi
for name in chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$name" >/dev/null; then exit 0; fi
done

instead="Install Chromium or Chrome yourself; where it has another name, name it: make browser CHROMIUM=/path/to/chromium."
root=""
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "Chromium is not installed, and only root can install packages. $instead" >&2; exit 1; }
    root=sudo
fi
echo "Installing Chromium from the system's packages"
if command -v apt-get >/dev/null; then
    # shellcheck disable=SC2086
    $root apt-get update -qq && $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium
elif command -v dnf >/dev/null; then
    $root dnf install -y -q chromium
elif command -v apk >/dev/null; then
    $root apk add -q chromium
elif command -v pacman >/dev/null; then
    $root pacman -S --noconfirm --quiet chromium
else
    echo "No package manager that is known here (apt-get, dnf, apk, pacman). $instead" >&2
    exit 1
fi || { echo "The system's packages could not give Chromium. $instead" >&2; exit 1; }
