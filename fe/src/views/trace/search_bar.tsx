import { clamp } from "../../base/clamp";
import type { Ref } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useId } from "../../base/id";
import { formatCount } from "../../base/units";
import { Button, SearchBox } from "../../widgets";
import { HitList } from "./hit_list";
import type { Direction, Found, Hit, Wish } from "./search";
import type { TraceState } from "./trace_state";

interface SearchBarProps {
  state: TraceState;
  box: Ref<HTMLDivElement>;
}

export function SearchBar({ state, box }: SearchBarProps) {
  const { wish, setWish, found, finder, view, set } = state;
  const none = found.idle || found.total === 0;
  const list = useHitList(state);
  const names = `${formatCount(found.namesTotal)} ${found.namesTotal === 1 ? "name" : "names"}`;
  const listed = view.params.table === "hits";
  return (
    <div
      class="search-bar"
      ref={box}
      onKeyDownCapture={list.onKey}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) list.close();
      }}
    >
      <SearchBox
        label="Search events"
        placeholder="Search events  /"
        text={wish.text}
        regex={wish.regex}
        onChange={(search) => {
          setWish({ ...wish, ...search });
          list.show();
        }}
        error={found.error ?? (finder.problem || null)}
        result={resultText(found, finder.index)}
        list={list.of}
      />
      <Button
        kind="quiet"
        icon="up"
        label="Previous match (P)"
        disabled={none}
        onClick={() => finder.next("previous")}
      />
      <Button
        kind="quiet"
        icon="down"
        label="Next match (N)"
        disabled={none}
        onClick={() => finder.next("next")}
      />
      <Button
        kind="quiet"
        label="args: search the arguments too"
        pressed={wish.args}
        onClick={() => setWish({ ...wish, args: !wish.args })}
      >
        args
      </Button>
      {none ? null : (
        <Button
          kind="quiet"
          icon="table"
          label={`${names}: list the matches by name`}
          pressed={listed}
          onClick={() => set({ table: listed ? null : "hits" })}
        >
          {names}
        </Button>
      )}
      {list.of.open ? (
        <HitList id={list.of.id} state={state} chosen={list.chosen} onHit={list.take} />
      ) : null}
    </div>
  );
}

/** The list below the box: arrows choose in it, Enter goes to what is chosen, Escape folds it. */
function useHitList({ wish, found, finder }: TraceState) {
  const id = useId("hits");
  const [open, setOpen] = useState(false);
  const [place, setPlace] = useState({ list: found.list, at: -1 });
  const chosen = place.list === found.list ? place.at : -1;
  const toHit = useHitWhenFound(wish, found, finder.next);
  const shown = open && !found.idle && found.error === null;
  const take = (hit: Hit): void => {
    setOpen(false);
    finder.to(hit);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (!(event.target instanceof HTMLInputElement) || event.target.type !== "text") return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      if (shown)
        setPlace({
          list: found.list,
          at: clamp(chosen + step, -1, found.list.length - 1),
        });
      setOpen(true);
    } else if (event.key === "Escape" && shown) {
      event.stopPropagation();
      setOpen(false);
    } else if (event.key === "Enter") {
      const hit = shown ? found.list[chosen] : undefined;
      if (hit) take(hit);
      else {
        setOpen(false);
        toHit(event.shiftKey ? "previous" : "next");
      }
    }
  };
  const of = { id, open: shown, option: shown && chosen >= 0 ? `${id}-${chosen}` : undefined };
  return { of, chosen, take, onKey, show: () => setOpen(true), close: () => setOpen(false) };
}

const sameWish = (a: Wish, b: Wish): boolean =>
  a.text === b.text &&
  a.regex === b.regex &&
  a.args === b.args &&
  (b.kind === "first" || a.kind === b.kind);

/** Goes to a hit at once, or as soon as the hits of what was typed are there: people press Enter before that. */
function useHitWhenFound(
  wish: Wish,
  found: Found,
  onNext: (direction: Direction) => void,
): (direction: Direction) => void {
  const settled = !found.busy && sameWish(found.wish, wish);
  const waiting = useRef<{ direction: Direction; wish: Wish } | null>(null);
  const go = useRef(onNext);
  go.current = onNext;
  useEffect(() => {
    const asked = waiting.current;
    if (!settled || !asked) return;
    waiting.current = null;
    if (found.total > 0 && sameWish(asked.wish, wish)) go.current(asked.direction);
  }, [settled, found.total, wish]);
  return (direction) => {
    if (!settled) waiting.current = { direction, wish };
    else if (found.total > 0) onNext(direction);
  };
}

export function resultText(
  found: Pick<Found, "idle" | "busy" | "error" | "total">,
  index: number | null,
): string {
  if (found.idle || found.error) return "";
  if (found.busy) return "…";
  if (index !== null && found.total > 0)
    return `${formatCount(index + 1)} of ${formatCount(found.total)}`;
  return found.total === 0 ? "no match" : formatCount(found.total);
}
