/** Views that come when they are first looked at, so that the first page is there sooner over a slow tunnel. */

import type { ComponentProps, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Skeleton } from "../widgets";

type DeferredViews = typeof import("./deferred_views");

let come: DeferredViews | null = null;

/** Fetches them; what fails is fetched again when one is looked at. */
export const fetchLater = async (): Promise<DeferredViews> =>
  (come = await import("./deferred_views"));

/** One of them; until it is there, its place is shown. */
export function later<N extends keyof DeferredViews>(
  name: N,
): ComponentType<ComponentProps<DeferredViews[N]>> {
  return function LaterView(props) {
    const [thrown, setThrown] = useState<Error | null>(null);
    const [, setCome] = useState(come);
    useEffect(() => {
      if (!come) fetchLater().then(setCome, setThrown);
    }, []);
    // The boundary around the view says it, and tries again.
    if (thrown) throw thrown;
    const View = come?.[name] as ComponentType<typeof props> | undefined;
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
