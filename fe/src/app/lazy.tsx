/** Views that come when they are first looked at, so that the first page is there sooner over a slow tunnel; the others follow while nobody waits. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ViewProps } from "../state/view";
import { Skeleton } from "../widgets";

type Loader = () => Promise<ComponentType<ViewProps>>;

const loaders: Loader[] = [];

/** A view out of a file of its own. */
export function lazy(load: Loader): ComponentType<ViewProps> {
  loaders.push(load);
  let loaded: ComponentType<ViewProps> | null = null;
  return function LazyView(props: ViewProps) {
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
    const View = loaded;
    return <View {...props} />;
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

/** Fetches all views, one after the other; what fails is fetched again when it is looked at. */
export async function fetchViews(): Promise<void> {
  for (const load of loaders) await load().catch(() => null);
}
