#!/usr/bin/env bash
# What the action does, for any CI system: reads PROFILE, BASELINE, BASELINE_DIR, SAVE_BASELINE, FAIL_ON, STRICT, BUDGETS and
# REPORT from the environment, appends Markdown to GITHUB_STEP_SUMMARY (else standard output), and ends with 1 where a check failed.
set -uo pipefail
: "${PROFILE:?set PROFILE to the trace, run folder or logdir}"
summary="${GITHUB_STEP_SUMMARY:-/dev/stdout}"
dir="${BASELINE_DIR:-.profiler-baselines}"
failed=0

# Every part is run, so that the summary is whole; one that cannot be done at all (code 2) fails as well.
part() {
    printf '\n' >> "$summary"
    "$@" >> "$summary" || failed=1
}

part torch-tb-profiler summary "$PROFILE" --markdown --tokens 1500
limit=(${FAIL_ON:+--fail-on "$FAIL_ON"})
[ "${STRICT:-false}" != true ] || limit+=(--strict)
if [ -n "${BASELINE:-}" ]; then
    if [ -e "$BASELINE" ]; then
        part torch-tb-profiler diff "$BASELINE" "$PROFILE" --junit profiler-diff.xml ${limit[@]+"${limit[@]}"}
    else
        part torch-tb-profiler baseline compare "$BASELINE" "$PROFILE" --dir "$dir" --junit profiler-baseline.xml ${limit[@]+"${limit[@]}"}
    fi
fi
if [ -n "${BUDGETS:-}" ]; then
    part torch-tb-profiler budgets "$PROFILE" --budgets "$BUDGETS" --junit profiler-budgets.xml
fi
if [ -n "${REPORT:-}" ]; then
    torch-tb-profiler report "$PROFILE" -o "$REPORT" --force || failed=1
fi
if [ -n "${SAVE_BASELINE:-}" ]; then
    torch-tb-profiler baseline save "$SAVE_BASELINE" "$PROFILE" --dir "$dir" || failed=1
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    if [ "$failed" -eq 0 ]; then echo "result=passed"; else echo "result=failed"; fi >> "$GITHUB_OUTPUT"
fi
exit "$failed"
