/** What-ifs as texts: `name:key=value,key=value`, separated by semicolons, as the server and the command line take them. */

import type { DeclaredChange, PathRowsPayload, WhatIfPrediction } from "../../api/types.gen";
import { stepsText, type StepRange } from "../../state/view";
import { labelOf, meanOf } from "./model";
import { formatShare, formatTime, MINUS } from "../../base/units";

export interface Change {
  name: string;
  values: Readonly<Record<string, string>>;
}

export type Selector = "operator" | "kernel" | "line" | "module" | "kind" | "name";
/** The change that selects nothing by default. */
const SELECTS = "scale";
export const SELECTOR_OPTIONS: readonly { value: Selector; label: string }[] = [
  { value: "operator", label: "operator" },
  { value: "kernel", label: "kernel" },
  { value: "line", label: "source line" },
  { value: "module", label: "module" },
  { value: "kind", label: "kind" },
  { value: "name", label: "any event" },
];

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Before a separator an odd number of backslashes makes it part of a name. */
const UNESCAPED = "(?<=(?<!\\\\)(?:\\\\\\\\)*)";

/** The changes of a text; one that is not in the catalogue stays as it is, for the server to refuse. */
export function readChanges(text: string, catalogue: readonly DeclaredChange[]): Change[] {
  if (!text) return [];
  const names = catalogue.map(({ name }) => escaped(name)).join("|");
  // Names of functions hold semicolons and commas, too: only one before a known name ends what is before.
  return text.split(new RegExp(`${UNESCAPED};(?=(?:${names})(?:[:;]|$))`)).map((each) => {
    const cut = each.indexOf(":");
    const declared = catalogue.find(({ name }) => name === (cut < 0 ? each : each.slice(0, cut)));
    if (!declared) return { name: each, values: {} };
    const keys = declared.parameters.map(({ name }) => escaped(name)).join("|");
    const parts =
      cut < 0 ? [] : each.slice(cut + 1).split(new RegExp(`${UNESCAPED},(?=(?:${keys})=)`));
    const given = parts.map((part) => {
      const equals = part.indexOf("=");
      return [part.slice(0, equals), part.slice(equals + 1)];
    });
    const values = { ...defaultsOf(declared), ...(Object.fromEntries(given) as Change["values"]) };
    return { name: declared.name, values };
  });
}

/** The parameters of a change with their defaults. */
export const defaultsOf = ({ parameters }: DeclaredChange): Change["values"] =>
  Object.fromEntries(parameters.map(({ name, default: value }) => [name, value]));

export function changeText({ name, values }: Change): string {
  // Where nothing is chosen by default, "*" chooses everything.
  const given = Object.entries(values).filter(
    ([, value]) => value !== "" && (value !== "*" || name === SELECTS),
  );
  const rest = given.map(([key, value]) => `${key}=${value}`).join(",");
  return rest ? `${name}:${rest}` : name;
}

/** A change in words; without values: with its defaults. */
export function wordsOf({ values }: Partial<Change>, declared: DeclaredChange): string {
  const all = { ...defaultsOf(declared), ...values };
  const value = (key: string): string => all[key] ?? "";
  const chosen = SELECTOR_OPTIONS.filter((option) => value(option.value)).map((option) => {
    const name = value(option.value);
    return `${option.label} ${option.value === "kind" ? labelOf(name) : name}`;
  });
  return declared.words.replace(/\{(\w+)\}/g, (_, key: string) => {
    if (key === "chosen") return chosen.join(", ") || "chosen events";
    if (key === "share") return formatShare(Number(value(key)));
    if (!key.startsWith("of_")) return value(key);
    const of = value(key.slice(3));
    return of === "*" || !of ? "" : ` of ${of}`;
  });
}

export const changesText = (changes: readonly Change[]): string =>
  changes.map(changeText).join(";");

/** The change that the link "What if this took half the time?" asks for. */
export const halved = (selector: Selector, name: string): string =>
  changeText({ name: "scale", values: { [selector]: name, factor: "0.5" } });

/** By what the events of a kind are chosen. */
export const SELECTOR_OF: Readonly<Record<string, Selector>> = {
  operator: "operator",
  kernel: "kernel",
  memcpy: "kernel",
  memset: "kernel",
  communication: "kernel",
  python: "line",
  runtime: "name",
  synchronization: "name",
  dataloader: "name",
  annotation: "name",
};

/** What is asked of a part of the path: half its time. Null where nothing has a name that could be chosen. */
export function halvedPart(
  kind: string | null,
  name: string | null | undefined,
  line: string | null | undefined,
): string | null {
  const selector = SELECTOR_OF[kind ?? ""];
  const text = selector === "line" ? line : name;
  return selector && text ? halved(selector, text) : null;
}

/** The command that predicts the same. */
export function commandOf(path: string, changes: readonly Change[], steps: StepRange): string {
  const given = changes.map((change) => `--change ${quoted(changeText(change))}`);
  const range = stepsText(steps);
  const chosen = [range ? `--steps ${range}` : "", steps.skipCold ? "--skip-cold" : ""];
  return ["torch-tb-profiler whatif", quoted(path), ...given, ...chosen].filter(Boolean).join(" ");
}

/** A word of a POSIX shell. */
const quoted = (text: string): string =>
  /^[\w./:=,@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** Names on the path that a selector can choose, the largest part first. */
export function namesFor(
  selector: Selector,
  { operator, line, name, kind }: PathRowsPayload["rows"],
): string[] {
  const kernel = name.filter((_, row) => SELECTOR_OF[kind[row] ?? ""] === "kernel");
  const known: Partial<Record<Selector, readonly (string | null)[]>> = {
    operator,
    line,
    kernel,
    name,
  };
  return [...new Set(known[selector])].filter((text) => !!text).slice(0, 200) as string[];
}

/** `−51.1 %`: by how much a time differs from an earlier one. */
export function changeShare(after: number, before: number): string {
  const share = before > 0 ? after / before - 1 : 0;
  const text = formatShare(Math.abs(share));
  return share < 0 ? `${MINUS}${text}` : `+${text}`;
}

export interface Result {
  times: string;
  interval: string;
  change: string;
  replay: string;
}

/** A prediction in words. */
export function resultOf(prediction: WhatIfPrediction): Result {
  const { measured_ns, predicted_ns, low_ns, high_ns, replay_error } = prediction;
  const [low, high] = [formatTime(low_ns), formatTime(high_ns)];
  return {
    times: `${formatTime(measured_ns)} → ${formatTime(predicted_ns)}`,
    interval: low === high ? "" : `${low} to ${high}`,
    change: changeShare(predicted_ns, measured_ns),
    replay: replayText(replay_error),
  };
}

/** A share below half a per mille is told as none. */
export const replayText = (error: number): string =>
  Math.abs(error) < 0.0005
    ? "Replayed without a change, the trace takes as long as was measured."
    : `Replayed without a change, the trace misses the measured time by ${formatShare(Math.abs(error))}.`;

/** How long a step is, and of how many that is the mean. */
export function stepText(ns: number | null, steps: number): string {
  const mean = steps === 1 ? "" : `, ${meanOf(steps)}`;
  return `step of ${formatTime(ns)}${mean}`;
}
