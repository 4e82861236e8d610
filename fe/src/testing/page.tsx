/** A view beside a server that answers what a test says. */

import { render } from "@testing-library/preact";
import type { ComponentType } from "preact";
import { useState } from "preact/hooks";
import { type Mock, vi } from "vitest";
import { ALL_STEPS, type Params, type ViewProps } from "../state/view";

/** Answers by their routes; a function is given the address that is asked. */
export type Answers = Record<string, object | null | ((url: URL) => unknown)>;

/** Answer by routes from now on; gives the addresses that are asked. */
export function serve(answers: Answers): URL[] {
  const asked: URL[] = [];
  vi.stubGlobal("fetch", (address: string) => {
    const url = new URL(address);
    asked.push(url);
    const answer = answers[routeOf(url)];
    const body: unknown = typeof answer === "function" ? answer(url) : answer;
    const error = { code: "not_found", message: `Nothing answers ${routeOf(url)}.`, hint: "" };
    return Promise.resolve(Response.json(body ?? { error }, { status: body ? 200 : 404 }));
  });
  return asked;
}

const routeOf = (url: URL): string => url.pathname.slice(1);

/** What a route was asked with, in order. */
export const queriesOf = (asked: readonly URL[], route: string): Record<string, string>[] =>
  asked.filter((url) => routeOf(url) === route).map((url) => Object.fromEntries(url.searchParams));

export interface Shown {
  setParam: Mock;
  setSteps: Mock;
}

/** Draw a view with such parameters in its address; gives what it calls. */
export function show(
  View: ComponentType<ViewProps>,
  params: Params = {},
  over: Partial<ViewProps> = {},
): Shown {
  const actions = { setParam: vi.fn(), setSteps: vi.fn() };
  render(<View {...viewProps(params, actions)} {...over} />);
  return actions;
}

/** The props of a view, with what it calls. */
export function viewProps(
  params: Params,
  actions: Pick<ViewProps, "setParam" | "setSteps">,
): ViewProps {
  return {
    selection: { run: "r", worker: "w", span: "s" },
    steps: ALL_STEPS,
    params,
    hrefOf: (view, more = {}) => `#${view}?${new URLSearchParams(more).toString()}`,
    ...actions,
  };
}

/** All that is written on the page. */
export const text = (): string => document.body.textContent;

/** Heads of columns that do not say what they mean. */
export const plainHeads = (): string[] =>
  [...document.querySelectorAll(".head-label:not(.term-line)")].map((head) => head.textContent);

/** Draw a view that is given what it sets, as by the address bar; gives the present parameters. */
export function showLive(
  View: ComponentType<ViewProps>,
  start: Params = {},
  over: Partial<ViewProps> = {},
): { params: Params } {
  const live = { params: start };
  function Page() {
    const [params, setParams] = useState(start);
    live.params = params;
    const setParam = (key: string, value: string | null): void =>
      setParams(({ [key]: _, ...others }) => (value ? { ...others, [key]: value } : others));
    return <View {...viewProps(params, { setParam, setSteps: vi.fn() })} {...over} />;
  }
  render(<Page />);
  return live;
}
