# shellcheck shell=bash
# What jobs/quickstart.sh and jobs/slurm.sh share: their own options give way to those of the user. starling takes each option once.

# keep_defaults DEFAULTS... -- GIVEN...: sets `kept` to those defaults, with their values, that GIVEN does not name. A price falls
# with another price, and where GIVEN says that nothing is protected.
keep_defaults() {
  local defaults=() names=" " before='' word keeps=yes
  kept=()
  while (($# > 0)) && [[ $1 != -- ]]; do
    defaults+=("$1")
    shift
  done
  if (($# > 0)); then shift; fi
  for word in "$@"; do
    if [[ $word == --* ]]; then names+="${word%%=*} "; fi
    if [[ $word == --mechanism=none || "$before $word" == "--mechanism none" ]]; then names+="--epsilon --mu --total-epsilon --delta --budget "; fi
    if [[ $word == --epsilon* || $word == --mu* || $word == --total-epsilon* ]]; then
      names+="--epsilon --mu --total-epsilon "
    fi
    before=$word
  done
  for word in ${defaults[@]+"${defaults[@]}"}; do
    if [[ $word == --* && $names == *" ${word%%=*} "* ]]; then keeps=no; elif [[ $word == --* ]]; then keeps=yes; fi
    if [[ $keeps == yes ]]; then kept+=("$word"); fi
  done
}
