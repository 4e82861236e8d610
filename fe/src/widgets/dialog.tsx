import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useId } from "../base/id";
import { Button } from "./buttons";

interface DialogProps {
  title: string;
  /** Without a head of its own; it stands at the top. */
  bare?: boolean;
  children: ComponentChildren;
  onClose: () => void;
}

/** Stands as long as it is drawn. Esc, the button and a click beside it close it; the focus goes back to where it was. */
export function Dialog({ title, bare = false, children, onClose }: DialogProps) {
  const root = useRef<HTMLDialogElement>(null);
  const id = useId("dialog");
  useEffect(() => {
    const before = document.activeElement;
    const dialog = root.current;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={root}
      class={bare ? "dialog dialog-bare" : "dialog"}
      aria-label={bare ? title : undefined}
      aria-labelledby={bare ? undefined : id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // Keys of the page below must not act on what stands under the dialog.
      onKeyDown={(event) => event.stopPropagation()}
      onClick={(event) => {
        if (event.target === root.current) onClose();
      }}
    >
      {bare ? (
        children
      ) : (
        <div class="dialog-box">
          <header class="dialog-head">
            <h2 id={id}>{title}</h2>
            <Button kind="quiet" icon="close" label="Close" onClick={onClose} />
          </header>
          {children}
        </div>
      )}
    </dialog>
  );
}
