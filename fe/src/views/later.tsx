/** Parts of the page that come when they are first looked at, so that the first page is there sooner over a slow tunnel. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Skeleton } from "../widgets";

/** A component out of a file of its own; until that is there, its place is shown. */
export function later<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  return function Later(props: P) {
    const [thrown, setThrown] = useState<Error | null>(null);
    const [, setCome] = useState(loaded !== null);
    useEffect(() => {
      if (loaded) return;
      load().then((component) => {
        loaded = component;
        setCome(true);
      }, setThrown);
    }, []);
    // The boundary around the view says it, and tries again.
    if (thrown) throw thrown;
    if (!loaded) return <Waiting />;
    const Loaded = loaded;
    return <Loaded {...props} />;
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
