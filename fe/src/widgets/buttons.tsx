import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { savedAs } from "../base/csv";
import { Icon, type IconName } from "./icons";

interface ButtonProps {
  children?: ComponentChildren;
  icon?: IconName;
  /** Needed when there is no text: what the button does. */
  label?: string;
  kind?: "plain" | "primary" | "quiet";
  disabled?: boolean;
  pressed?: boolean;
  onClick: (event: MouseEvent) => void;
}

export function Button(props: ButtonProps) {
  const { children, icon, label, kind = "plain", disabled = false, pressed, onClick } = props;
  return (
    <button
      type="button"
      class={`button button-${kind}${children ? "" : " button-icon"}`}
      disabled={disabled}
      aria-pressed={pressed}
      aria-label={label}
      title={label}
      onClick={onClick}
    >
      {icon ? <Icon name={icon} /> : null}
      {children}
    </button>
  );
}

/** Puts text on the clipboard, also where the page has no clipboard permission (http, embedded). */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.style.cssText = "position:fixed;left:-999em";
  document.body.append(area);
  const before = document.activeElement;
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}

interface CopyButtonProps {
  text: string | (() => string);
  label: string;
  children?: ComponentChildren;
}

export function CopyButton({ text, label, children }: CopyButtonProps) {
  const [state, setState] = useState<"idle" | "done" | "failed">("idle");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async (): Promise<void> => {
    const done = await copyText(typeof text === "string" ? text : text());
    setState(done ? "done" : "failed");
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setState("idle"), 1500);
  };
  const message =
    state === "done" ? "Copied" : state === "failed" ? "The browser refused to copy" : label;
  return (
    <>
      <Button
        kind="quiet"
        icon={state === "done" ? "check" : "copy"}
        label={message}
        onClick={() => void copy()}
      >
        {children}
      </Button>
      <span class="visually-hidden" role="status">
        {state === "idle" ? "" : message}
      </span>
    </>
  );
}

function saveTable(name: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = savedAs(name);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

interface DownloadButtonProps {
  name: string;
  content: () => string;
  label: string;
  children?: ComponentChildren;
}

/** Saves a table as CSV. */
export function DownloadButton({ name, content, label, children }: DownloadButtonProps) {
  return (
    <Button kind="quiet" icon="download" label={label} onClick={() => saveTable(name, content())}>
      {children}
    </Button>
  );
}
