import { useEffect, useReducer } from "preact/hooks";

export interface Store<T> {
  get: () => T;
  set: (value: T) => void;
  watch: (listener: () => void) => () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    watch: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The value of a store, or a part of it; the component draws again only when that changes. */
export function useStore<T, S = T>(
  store: Store<T>,
  select: (value: T) => S = (value) => value as unknown as S,
): S {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const selected = select(store.get());
  useEffect(() => {
    let last = selected;
    const check = (): void => {
      const now = select(store.get());
      if (Object.is(now, last)) return;
      last = now;
      redraw(undefined);
    };
    check();
    return store.watch(check);
    // `selected` is where the watching starts from; a new one needs a new watch.
  }, [store, select, selected]);
  return selected;
}
