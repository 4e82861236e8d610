/** The field in the line, which every page has: what it opens, a slash and Ctrl K open too. */

import { useEffect, useState } from "preact/hooks";
import type { ViewProps } from "../state/view";
import { later } from "./lazy_component";
import type { Section } from "./registry";

const Ask = later("Ask");
const TYPED = "input, select, textarea, dialog, [contenteditable]";

/** Whether a key is text, or of a dialog. */
export const isTyping = ({ target }: Event): boolean =>
  target instanceof Element && target.closest(TYPED) !== null;

export function AskField(props: ViewProps & { section: Section }) {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey } = event;
      const control = ctrlKey || metaKey;
      if (altKey || !(control ? key.toLowerCase() === "k" : key === "/" && !isTyping(event)))
        return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  const { id, filter } = props.section;
  return (
    <>
      <button
        type="button"
        class="ask"
        aria-label="Ask"
        aria-haspopup="dialog"
        aria-keyshortcuts="/ Control+K"
        onClick={() => setOpen(true)}
      >
        <span class="ask-text">Ask</span>
        <kbd aria-hidden="true">/</kbd>
      </button>
      {open ? <Ask {...props} here={id} filter={filter} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
