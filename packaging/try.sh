#!/usr/bin/env bash
# Tries the packages that packaging/build.sh has made: installs them where nothing else of starling is, uses them, removes them.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'TEXT'
usage: packaging/try.sh [deb] [tarball] [containers]

  deb         lintian, then install, use and remove the Debian package: in a fresh Debian, if this is root and debootstrap gets one,
              else unpacked beside the system
  tarball     unpack and use the tarball in two folders, one after the other; in a fresh Debian that has Open MPI and Python alone,
              if there can be one
  containers  the steps of Dockerfile and starling.def, in a fresh Debian; needs root, debootstrap, and half an hour

Without an argument: deb and tarball. BUILD is as in packaging/build.sh. FRESH names a folder with a Debian by debootstrap, which is
then copied instead of fetched.
TEXT
}

build=$(realpath -m "${BUILD:-build/package}")
version=$(sed -n 's/^project(starling VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
place=$(mktemp -d)
cleanup() { rm -rf --one-file-system "$place"; }
trap cleanup EXIT

say() { printf 'try: %s\n' "$*"; }

only() {
  local found
  mapfile -t found < <(compgen -G "$1")
  if ((${#found[@]} != 1)); then
    printf "try.sh: '%s' is not one file. Build it first: packaging/build.sh.\n" "$1" >&2
    exit 2
  fi
  printf '%s' "${found[0]}"
}

# fresh NAME: a Debian of the least size in $place/NAME; fails where there can be none.
fresh() {
  local root=$place/$1
  if [[ $(id -u) != 0 ]]; then return 1; fi
  if [[ -n ${FRESH:-} ]]; then
    cp -a "$FRESH" "$root"
  else
    command -v debootstrap >/dev/null || return 1
    (. /etc/os-release && debootstrap --variant=minbase "$VERSION_CODENAME" "$root") >"$place/debootstrap.log" 2>&1 || return 1
  fi
  cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
}

# inside NAME COMMAND...: in the Debian of that name. Its mounts are gone when the command ends.
inside() {
  local root=$place/$1
  shift
  unshare --mount --pid --fork bash -euo pipefail -c '
    root=$1
    shift
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/tmp"
    exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
  ' inside "$root" "$@"
}

quietly() { "$@" >"$place/log" 2>&1 || { cat "$place/log" >&2; return 1; }; }

try_deb() {
  local package
  package=$(only "$build/packages/starling_${version}-*.deb")
  say "lintian $package"
  lintian --fail-on error "$package"
  if fresh debian; then
    say "install it into a fresh Debian"
    cp "$package" packaging/use.sh "$place/debian/root/"
    quietly inside debian apt-get update
    quietly inside debian apt-get install -y --no-install-recommends "/root/${package##*/}" g++ cmake make
    inside debian bash /root/use.sh /usr "$version"
    say "remove it"
    inside debian dpkg -L starling | sort >"$place/installed"
    quietly inside debian apt-get purge -y starling
    while read -r file; do
      if [[ $file == *starling* && -e $place/debian$file ]]; then
        printf 'try.sh: %s is left after removal.\n' "$file" >&2
        return 1
      fi
    done <"$place/installed"
  else
    say "no fresh Debian here: unpacked into a folder, and used from there with the libraries of this system"
    dpkg -x "$package" "$place/unpacked"
    use_unpacked "$place/unpacked/usr" LD_LIBRARY_PATH="$(dirname "$(find "$place/unpacked" -name libstarling.so)")"
  fi
}

# use_unpacked PREFIX [NAME=VALUE...]: use.sh on what was unpacked there.
use_unpacked() {
  local prefix=$1
  shift
  env "PATH=$prefix/bin:$PATH" "PYTHONPATH=$prefix/lib/python3/dist-packages" "$@" bash packaging/use.sh "$prefix" "$version"
}

try_tarball() {
  local tarball name folder
  tarball=$(only "$build/packages/starling-$version-*.tar.gz")
  name=$(basename "$tarball" .tar.gz)
  if fresh bare; then
    quietly inside bare apt-get update
    quietly inside bare apt-get install -y --no-install-recommends openmpi-bin python3-numpy
    cp packaging/use.sh "$place/bare/root/"
    for folder in /opt "/home/a folder"; do
      say "unpack and use it in '$folder' of a Debian without its libraries"
      mkdir -p "$place/bare$folder"
      tar -xzf "$tarball" -C "$place/bare$folder"
      inside bare env "PATH=$folder/$name/bin:/usr/bin:/bin" "PYTHONPATH=$folder/$name/lib/python3/dist-packages" \
        bash /root/use.sh "$folder/$name" "$version"
      rm -r "${place:?}/bare$folder/$name"
    done
  else
    for folder in one "a folder/two"; do
      say "unpack and use it in '$folder'"
      mkdir -p "$place/$folder"
      tar -xzf "$tarball" -C "$place/$folder"
      use_unpacked "$place/$folder/$name"
      rm -r "${place:?}/$folder/$name"
    done
  fi
}

# What follows RUN in a Dockerfile's stage, or %post in a definition's: they are the same, which a test checks.
try_containers() {
  fresh image || { printf 'try.sh: no fresh Debian: this needs root and debootstrap.\n' >&2; return 2; }
  say "stage 1: compile and pack"
  mkdir "$place/image/source"
  git ls-files -z | xargs -0 cp --parents -t "$place/image/source"
  inside image bash /source/packaging/container.sh build
  fresh final
  say "stage 2: install"
  mkdir "$place/final/packages"
  cp "$place"/image/build/packages/*.deb packaging/container.sh packaging/use.sh "$place/final/packages/"
  inside final bash /packages/container.sh install
  inside final bash /packages/use.sh /usr "$version"
}

kinds=()
for word in "$@"; do
  case $word in
    deb | tarball | containers) kinds+=("$word") ;;
    --help | -h) usage; exit 0 ;;
    *) printf "try.sh: unknown argument '%s'. See packaging/try.sh --help.\n" "$word" >&2; exit 2 ;;
  esac
done
((${#kinds[@]})) || kinds=(deb tarball)
for kind in "${kinds[@]}"; do "try_$kind"; done
say "${kinds[*]}: all tried"
