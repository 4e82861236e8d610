/** Views that come when they are first looked at; the others follow while nobody waits. */

import type { ComponentType } from "preact";
import type { ViewProps } from "../state/view";
import { later } from "../views/later";

type Loader = () => Promise<ComponentType<ViewProps>>;

const loaders: Loader[] = [];

/** A view out of a file of its own. */
export function lazy(load: Loader): ComponentType<ViewProps> {
  loaders.push(load);
  return later(load);
}

/** Fetches all views, one after the other; what fails is fetched again when it is looked at. */
export async function fetchViews(): Promise<void> {
  for (const load of loaders) await load().catch(() => null);
}
