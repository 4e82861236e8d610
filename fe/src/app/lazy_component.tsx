/** Views that come when they are first looked at, so that the first page is there sooner over a slow tunnel. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ViewProps } from "../state/view";
import { Skeleton } from "../widgets";

type DeferredViews = typeof import("./deferred_views");

let come: DeferredViews | null = null;

/** Fetches them; what fails is fetched again when one is looked at. */
export const fetchLater = async (): Promise<DeferredViews> =>
  (come = await import("./deferred_views"));

/** One of them; until it is there, its place is shown. */
export function later(name: keyof DeferredViews): ComponentType<ViewProps> {
  return function LaterView(props: ViewProps) {
    const [thrown, setThrown] = useState<Error | null>(null);
    const [, setCome] = useState(come);
    useEffect(() => {
      if (!come) fetchLater().then(setCome, setThrown);
    }, []);
    // The boundary around the view says it, and tries again.
    if (thrown) throw thrown;
    const View = come?.[name];
    return View ? <View {...props} /> : <Waiting />;
  };
}

function Waiting() {
  return (
    <div class="view-waiting" aria-busy="true">
      <Skeleton height={120} />
      <Skeleton height={360} />
    </div>
  );
}
