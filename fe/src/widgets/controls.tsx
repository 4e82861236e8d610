import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { clamp } from "../base/clamp";
import { definitionOf } from "../base/definitions";
import { useId } from "../base/id";
import { Button } from "./buttons";
import { Icon, type IconName } from "./icons";
import { Tooltip } from "./tooltip";

export interface Option {
  value: string;
  label: string;
  note?: string;
}

interface SelectProps {
  label: string;
  value: string;
  options: readonly Option[];
  onChange: (value: string) => void;
  disabled?: boolean;
  showLabel?: boolean;
}

/** A native select with its label; a value that is not among the options is added as "not found". */
export function Select(props: SelectProps) {
  const { label, value, options, onChange, disabled = false, showLabel = true } = props;
  const id = useId("select");
  const lost = value !== "" && !options.some((option) => option.value === value);
  return (
    <div class="field">
      <label for={id} class={showLabel ? undefined : "visually-hidden"}>
        {label}
      </label>
      <div class="select-box">
        <select
          id={id}
          value={value}
          disabled={disabled}
          title={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          {lost ? <option value={value}>{`${value} (not found)`}</option> : null}
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.note ? `${option.label} – ${option.note}` : option.label}
            </option>
          ))}
        </select>
        <Icon name="down" size={12} />
      </div>
    </div>
  );
}

interface SegmentedProps<V extends string> {
  label: string;
  value: V;
  options: readonly { value: V; label: string; term?: string; disabled?: boolean }[];
  onChange: (value: V) => void;
  showLabel?: boolean;
}

export function Segmented<V extends string>(props: SegmentedProps<V>) {
  const { label, value, options, onChange, showLabel = true } = props;
  const id = useId("segment");
  return (
    <div class="field" role="radiogroup" aria-labelledby={`${id}-label`}>
      <span id={`${id}-label`} class={showLabel ? "field-label" : "visually-hidden"}>
        {label}
      </span>
      <div class="segmented">
        {options.map((option) => (
          <Tooltip
            key={option.value}
            content={option.term ? definitionOf(option.term)?.text : ""}
            focusable={false}
          >
            <label class={option.value === value ? "segment segment-on" : "segment"}>
              <input
                type="radio"
                name={id}
                value={option.value}
                checked={option.value === value}
                disabled={option.disabled}
                onChange={() => onChange(option.value)}
              />
              <span class={option.term ? "term-line" : ""}>{option.label}</span>
            </label>
          </Tooltip>
        ))}
      </div>
    </div>
  );
}

interface CheckboxProps {
  label: ComponentChildren;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}

export function Checkbox({ label, checked, onChange, disabled = false }: CheckboxProps) {
  return (
    <label class="checkbox">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}

interface TextInputProps {
  value: string;
  /** With Enter, and when the field is left. */
  onCommit?: ((text: string) => void) | undefined;
  /** With each key; `value` follows it. */
  onInput?: ((text: string) => void) | undefined;
  type?: "text" | "search";
  id?: string;
  class?: string;
  placeholder?: string;
  list?: string | undefined;
  title?: string;
  pattern?: string;
  maxLength?: number;
  /** Takes the focus at once. */
  focused?: boolean;
  "aria-label"?: string;
  "aria-invalid"?: true | undefined;
}

/** A text field. Without `onInput` it keeps what is typed until it is committed, however often the page is drawn meanwhile. */
export function TextInput(props: TextInputProps) {
  const { value, onCommit, onInput, focused, class: more = "", ...rest } = props;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (focused) field.current?.focus();
  }, [focused]);
  // What was typed holds for the value that it was typed over.
  const [typed, setTyped] = useState({ over: value, text: value });
  const keep = (text: string): void => setTyped({ over: value, text });
  return (
    <input
      type="text"
      autocomplete="off"
      {...rest}
      ref={field}
      class={`text-input ${more}`}
      value={typed.over === value ? typed.text : value}
      onInput={({ currentTarget }) => (onInput ?? keep)(currentTarget.value)}
      onChange={({ currentTarget }) => {
        // What is not taken as it is stands there as it was taken.
        keep(value);
        onCommit?.(currentTarget.value);
      }}
    />
  );
}

interface SearchBoxProps {
  label: string;
  text: string;
  regex: boolean;
  onChange: (search: { text: string; regex: boolean }) => void;
  /** Why the pattern cannot be used; stands below the box. */
  error?: string | null;
  result?: string;
  placeholder?: string;
}

export function SearchBox(props: SearchBoxProps) {
  const { label, text, regex, onChange, error, result, placeholder = "Search" } = props;
  const id = useId("search");
  return (
    <div class={`search${error ? " search-bad" : ""}`} role="search" aria-label={label}>
      <Icon name="search" size={14} />
      <input
        type="text"
        aria-label={label}
        aria-invalid={error ? true : undefined}
        aria-describedby={error ? `${id}-error` : undefined}
        placeholder={placeholder}
        autocomplete="off"
        value={text}
        onInput={(event) => onChange({ text: event.currentTarget.value, regex })}
        onKeyDown={(event) => {
          if (event.key === "Escape" && text) onChange({ text: "", regex });
        }}
      />
      {result ? (
        <span class="search-result" role="status">
          {result}
        </span>
      ) : null}
      {text ? (
        <Button
          kind="quiet"
          icon="close"
          label="Clear the search"
          onClick={() => onChange({ text: "", regex })}
        />
      ) : null}
      <button
        type="button"
        class="regex-toggle"
        aria-pressed={regex}
        aria-label="Regular expression"
        title="Search by regular expression"
        onClick={() => onChange({ text, regex: !regex })}
      >
        .*
      </button>
      {error ? (
        <div id={`${id}-error`} class="search-error" role="alert">
          {error}
        </div>
      ) : null}
    </div>
  );
}

interface MenuProps {
  label: string;
  icon?: IconName;
  /** Takes the focus at once: it stands for one that was used and is gone. */
  focused?: boolean;
  /** Stands open at first. */
  opened?: boolean;
  /** What stands on the button, with a sign that it opens something; the label where there is none. */
  text?: string;
  /** Of the button. */
  class?: string;
  children: ComponentChildren | ((close: () => void) => ComponentChildren);
}

export function Menu(props: MenuProps) {
  const { label, icon, focused = false, opened = false, text, class: kind, children } = props;
  const [open, setOpen] = useState(opened);
  const root = useRef<HTMLDivElement>(null);
  const id = useId("menu");
  const toButton = (): void => root.current?.querySelector("button")?.focus();
  const close = (): void => {
    setOpen(false);
    toButton();
  };
  useEffect(() => {
    if (focused) toButton();
  }, [focused]);
  useEffect(() => {
    if (!open) return undefined;
    const outside = (event: Event): void => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("focusin", outside);
    root.current?.lastElementChild?.scrollIntoView({ block: "nearest" });
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("focusin", outside);
    };
  }, [open]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!open) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
    } else if (root.current) moveToItem(root.current, event);
  };
  return (
    <div class="menu" ref={root} onKeyDown={onKeyDown}>
      <button
        type="button"
        class={`button ${kind ?? "button-quiet"}`}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={text === undefined ? undefined : text ? `${label}: ${text}` : label}
        title={text === undefined ? undefined : text || label}
        onClick={() => setOpen(!open)}
      >
        {icon ? <Icon name={icon} /> : null}
        {text === "" ? null : <span class="button-text">{text ?? label}</span>}
        {text ? <Icon name="down" size={12} /> : null}
      </button>
      {open ? (
        <div class="menu-box" id={id} role="group" aria-label={label}>
          {typeof children === "function" ? children(close) : children}
        </div>
      ) : null}
    </div>
  );
}

/** Arrows go through the items, and a letter to the next one that begins with it. */
function moveToItem(root: HTMLElement, event: KeyboardEvent): void {
  const { key, target } = event;
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  const letter = key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
  const typing = target instanceof Element && target.matches("input, select, [role=listbox]");
  if (event.defaultPrevented || (typing && !(step && target.matches("[type=search]")))) return;
  const items = [...root.querySelectorAll<HTMLElement>(".menu-item")];
  const at = items.findIndex((item) => item === document.activeElement);
  const next = step
    ? items[clamp(at + step, 0, items.length - 1)]
    : [...items.slice(at + 1), ...items].find(
        ({ textContent }) => letter && textContent.toLowerCase().startsWith(key.toLowerCase()),
      );
  if (!next) return;
  event.preventDefault();
  next.focus();
}
