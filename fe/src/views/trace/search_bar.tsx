/** The search of the timeline: what is looked for, how many there are, and the way from one to the next. */

import type { JSX, Ref } from "preact";
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

export function SearchBar({ wish, found, index, problem, box, listOpen, onWish, onNext, onList }: SearchBarProps): JSX.Element {
  const none = found.idle || found.total === 0;
  const keys = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && !none && event.target instanceof HTMLInputElement) onNext(event.shiftKey ? "previous" : "next");
  };
  return (
    <div class="search-bar" ref={box} onKeyDown={keys}>
      <SearchBox
        label="Search the events"
        placeholder="Search events  /"
        text={wish.text}
        regex={wish.regex}
        onChange={({ text, regex }) => onWish({ ...wish, text, regex })}
        error={found.error ?? (problem || null)}
        result={resultText(found, index)}
      />
      <Button kind="quiet" icon="up" label="Previous hit (P)" disabled={none} onClick={() => onNext("previous")} />
      <Button kind="quiet" icon="down" label="Next hit (N)" disabled={none} onClick={() => onNext("next")} />
      <Button kind="quiet" label="args: look through the arguments, too" pressed={wish.args} onClick={() => onWish({ ...wish, args: !wish.args })}>
        args
      </Button>
      {none ? null : (
        <Button kind="quiet" icon="table" label={`${namesText(found.namesTotal)}: list the hits by name`} pressed={listOpen} onClick={onList}>
          {namesText(found.namesTotal)}
        </Button>
      )}
    </div>
  );
}

const namesText = (names: number): string => `${formatCount(names)} ${names === 1 ? "name" : "names"}`;

export function resultText(found: Pick<Found, "idle" | "busy" | "error" | "total">, index: number | null): string {
  if (found.idle || found.error) return "";
  if (found.busy) return "…";
  if (index !== null && found.total > 0) return `${formatCount(index + 1)} of ${formatCount(found.total)}`;
  return found.total === 0 ? "no hit" : formatCount(found.total);
}
