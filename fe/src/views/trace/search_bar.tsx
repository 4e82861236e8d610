import type { Ref } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { formatCount } from "../../base/units";
import { Button, SearchBox } from "../../widgets";
import type { Direction, Found, Wish } from "./search";

interface SearchBarProps {
  wish: Wish;
  found: Found;
  /** Place of the selected hit, from 0; `null` when none is selected. */
  index: number | null;
  problem: string;
  box: Ref<HTMLDivElement>;
  listOpen: boolean;
  onWish: (wish: Wish) => void;
  onNext: (direction: Direction) => void;
  onList: () => void;
}

export function SearchBar({
  wish,
  found,
  index,
  problem,
  box,
  listOpen,
  onWish,
  onNext,
  onList,
}: SearchBarProps) {
  const none = found.idle || found.total === 0;
  const toHit = useHitWhenFound(wish, found, onNext);
  const keys = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && event.target instanceof HTMLInputElement)
      toHit(event.shiftKey ? "previous" : "next");
  };
  return (
    <div class="search-bar" ref={box} onKeyDown={keys}>
      <SearchBox
        label="Search events"
        placeholder="Search events  /"
        text={wish.text}
        regex={wish.regex}
        onChange={({ text, regex }) => onWish({ ...wish, text, regex })}
        error={found.error ?? (problem || null)}
        result={resultText(found, index)}
      />
      <Button
        kind="quiet"
        icon="up"
        label="Previous match (P)"
        disabled={none}
        onClick={() => onNext("previous")}
      />
      <Button
        kind="quiet"
        icon="down"
        label="Next match (N)"
        disabled={none}
        onClick={() => onNext("next")}
      />
      <Button
        kind="quiet"
        label="args: search the arguments too"
        pressed={wish.args}
        onClick={() => onWish({ ...wish, args: !wish.args })}
      >
        args
      </Button>
      {none ? null : (
        <Button
          kind="quiet"
          icon="table"
          label={`${namesText(found.namesTotal)}: list the matches by name`}
          pressed={listOpen}
          onClick={onList}
        >
          {namesText(found.namesTotal)}
        </Button>
      )}
    </div>
  );
}

const sameWish = (a: Wish, b: Wish): boolean =>
  a.text === b.text && a.regex === b.regex && a.args === b.args;

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

const namesText = (names: number): string =>
  `${formatCount(names)} ${names === 1 ? "name" : "names"}`;

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
