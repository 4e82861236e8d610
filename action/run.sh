#!/usr/bin/env bash
# What the action does, for any CI system: reads PROFILE, BASELINE, BASELINE_DIR, SAVE_BASELINE, FAIL_ON, STRICT, BUDGETS and
# REPORT from the environment, appends Markdown to GITHUB_STEP_SUMMARY (else standard output), and ends with 1 where a check failed.
# Each value may hold anything, such as the name of a branch: it is one argument of a command, and never an option.
set -uo pipefail
dir="${BASELINE_DIR:-.profiler-baselines}"
failed=0

# The last line of each failure, which must not be lost among the Markdown.
fail() {
    printf 'profile: %s\n' "$1" >&2
    failed=1
}

# Every part is run, so that the summary is whole; one that cannot be done at all (code 2) fails as well.
part() {
    printf '\n' >&3
    "$@" >&3 || failed=1
}

# A part that checks something writes what it checked: an end with code 0 alone is no pass.
check() {
    local junit="$1"
    rm -f -- "$junit"
    part "${@:2}"
    [ -s "$junit" ] || fail "nothing was checked: $junit was not written"
}

if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then exec 3>> "$GITHUB_STEP_SUMMARY"; else exec 3>&1; fi
case "${REPORT:-}" in
    *$'\n'* | *$'\r'*) fail "REPORT has several lines"; REPORT="" ;;
    -) fail "REPORT must be the name of a file"; REPORT="" ;;
esac
if [ -L "${REPORT:-}" ]; then fail "REPORT is a symbolic link"; REPORT=""; fi
case "${STRICT:-}" in
    true) limit=(--strict) ;;
    "" | false) limit=() ;;
    *) limit=(); fail "STRICT must be true, false or empty" ;;
esac
[ -z "${FAIL_ON:-}" ] || limit+=("--fail-on=$FAIL_ON")

if [ -z "${PROFILE:-}" ]; then
    fail "set PROFILE to the trace, run folder or logdir"
else
    part torch-tb-profiler summary --markdown --tokens=1500 -- "$PROFILE"
    if [ -n "${BASELINE:-}" ]; then
        # A baseline that was saved comes first: a branch may be named like a folder.
        if [ ! -e "$dir/${BASELINE//\//%2F}.json" ] && [ -e "$BASELINE" ]; then
            check profiler-diff.xml torch-tb-profiler diff --junit=profiler-diff.xml \
                ${limit[@]+"${limit[@]}"} -- "$BASELINE" "$PROFILE"
        else
            check profiler-baseline.xml torch-tb-profiler baseline --dir="$dir" --junit=profiler-baseline.xml \
                ${limit[@]+"${limit[@]}"} -- compare "$BASELINE" "$PROFILE"
        fi
    fi
    if [ -n "${BUDGETS:-}" ]; then
        check profiler-budgets.xml torch-tb-profiler budgets "--budgets=$BUDGETS" --junit=profiler-budgets.xml -- "$PROFILE"
    fi
    if [ -n "${REPORT:-}" ]; then
        torch-tb-profiler report "--output=$REPORT" --force -- "$PROFILE" || failed=1
    fi
    if [ -n "${SAVE_BASELINE:-}" ]; then
        torch-tb-profiler baseline --dir="$dir" -- save "$SAVE_BASELINE" "$PROFILE" || failed=1
    fi
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    if [ "$failed" -eq 0 ]; then echo "result=passed"; else echo "result=failed"; fi >> "$GITHUB_OUTPUT"
    if [ -f "${REPORT:-}" ]; then printf 'report=%s\n' "$REPORT" >> "$GITHUB_OUTPUT"; fi
fi
exit "$failed"
