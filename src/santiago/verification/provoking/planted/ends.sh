# Stands before a shell script that judges, whose exits become calls of the one here.
__TOKEN___exit() {
  __TOKEN___code=${1:-$?}
  if [ "$__TOKEN___code" = 0 ]; then __TOKEN___word=ended; else __TOKEN___word=refused; fi
  printf '\n__TOKEN__ %s %s\n' "$__TOKEN___word" "__PATH__" >&2
  exit "$__TOKEN___code"
}
printf '\n__TOKEN__ began %s\n' "__PATH__" >&2
