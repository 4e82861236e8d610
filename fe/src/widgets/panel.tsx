import type { ComponentChildren } from "preact";
import { useId } from "../base/id";
import { Button, CopyButton } from "./buttons";
import { Icon } from "./icons";
import { Term } from "./tooltip";

export interface PanelProps {
  title: string;
  term?: string | undefined;
  note?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
  /** Whether the content goes to the edges (tables); `fill`: and takes what the window leaves, so that the page does not scroll. */
  flush?: boolean | "fill";
}

export function Panel(props: PanelProps) {
  const { title, term, note, actions, children, class: name = "", flush = false } = props;
  const id = useId("panel");
  return (
    <section
      class={`panel ${flush ? "panel-flush" : ""} ${flush === "fill" ? "panel-fill" : ""} ${name}`}
      aria-labelledby={id}
    >
      <header class="panel-head">
        <h2 id={id}>{term ? <Term id={term}>{title}</Term> : title}</h2>
        {note ? <span class="panel-note">{note}</span> : null}
        {actions ? <div class="panel-actions">{actions}</div> : null}
      </header>
      <div class="panel-body">{children}</div>
    </section>
  );
}

export function Card({ children }: { children: ComponentChildren }) {
  return (
    <section class="panel">
      <div class="panel-body">{children}</div>
    </section>
  );
}

interface BadgeProps {
  tone?: "neutral" | "good" | "warn" | "bad" | "info";
  children: ComponentChildren;
  title?: string;
}

export function Badge({ tone = "neutral", children, title }: BadgeProps) {
  return (
    <span class={`badge badge-${tone}`} title={title}>
      {children}
    </span>
  );
}

export function CodeBlock({ code, label = "Copy the code" }: { code: string; label?: string }) {
  return (
    <div class="code-block">
      <pre tabIndex={0} aria-label="Code">
        <code>{code}</code>
      </pre>
      <CopyButton text={code} label={label} />
    </div>
  );
}

interface EmptyStateProps {
  title: string;
  text: ComponentChildren;
  code?: string;
  diagnosisHref?: string;
  actions?: ComponentChildren;
  compact?: boolean;
}

/** Says why there is nothing and what to do about it. */
export function EmptyState(props: EmptyStateProps) {
  const { title, text, code, diagnosisHref, actions, compact = false } = props;
  return (
    <div class={`empty${compact ? " empty-compact" : ""}`}>
      <p class="empty-title">{title}</p>
      <div class="empty-text">{text}</div>
      {code ? <CodeBlock code={code} /> : null}
      {diagnosisHref || actions ? (
        <p class="empty-actions">
          {actions}
          {diagnosisHref ? <a href={diagnosisHref}>See all files found and their state</a> : null}
        </p>
      ) : null}
    </div>
  );
}

interface ErrorStateProps {
  error: { message: string; hint?: string; code?: string };
  title?: string;
  retry?: () => void;
  diagnosisHref?: string;
}

export function ErrorState(props: ErrorStateProps) {
  const { error, title = "This could not be loaded", retry, diagnosisHref } = props;
  // Nothing went wrong: a report holds a part of the figures, see `api/embedded_report.ts`.
  if (error.code === "not_in_report") return <EmptyState title={error.message} text={error.hint} />;
  return (
    <div class="error-state" role="alert">
      <Icon name="error" size={20} />
      <div>
        <p class="empty-title">{title}</p>
        <p class="error-message">{error.message}</p>
        {error.hint ? <p class="empty-text">{error.hint}</p> : null}
        <p class="empty-actions">
          {retry ? (
            <Button icon="reload" onClick={retry}>
              Try again
            </Button>
          ) : null}
          {diagnosisHref ? <a href={diagnosisHref}>All files</a> : null}
        </p>
      </div>
    </div>
  );
}

/** Grey bars in the shape of what is coming, so that the page does not jump when it comes. */
export function Skeleton({ height, label = "Loading" }: { height: number; label?: string }) {
  return (
    <div class="skeleton" style={{ minHeight: `${height}px` }} role="status">
      <span class="visually-hidden">{label}</span>
    </div>
  );
}
