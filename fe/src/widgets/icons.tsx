const PATHS = {
  chevron: "M6 4l4 4-4 4",
  down: "M4 6l4 4 4-4",
  up: "M4 10l4-4 4 4",
  copy: "M5.5 5.5V3a1 1 0 011-1H13a1 1 0 011 1v6.5a1 1 0 01-1 1h-2.5M3 5.5h6.5a1 1 0 011 1V13a1 1 0 01-1 1H3a1 1 0 01-1-1V6.5a1 1 0 011-1z",
  check: "M3 8.5l3.5 3.5L13 4.5",
  download: "M8 2v8m0 0L4.8 6.8M8 10l3.2-3.2M2.5 13.5h11",
  search: "M7 12A5 5 0 107 2a5 5 0 000 10zM10.7 10.7L14 14",
  close: "M4 4l8 8M12 4l-8 8",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  right: "M2.5 3h11v10h-11zM9.5 3v10",
  bottom: "M2.5 3h11v10h-11zM2.5 9h11",
  table: "M2.5 3h11v10h-11zM2.5 6.3h11M2.5 9.7h11M6.5 6.3V13",
  chart: "M2.5 13.5h11M4.5 11V7M8 11V3M11.5 11V5.5",
  help: "M6 6.2a2 2 0 113 1.7c-.7.4-1 .8-1 1.5M8 11.6v.1M8 14.5a6.5 6.5 0 100-13 6.5 6.5 0 000 13z",
  warn: "M8 2.5l6 11H2zM8 6.8v3M8 11.7v.1",
  info: "M8 14.5a6.5 6.5 0 100-13 6.5 6.5 0 000 13zM8 7.3v4M8 4.9v.1",
  error: "M8 14.5a6.5 6.5 0 100-13 6.5 6.5 0 000 13zM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4",
  more: "M3.4 8h.2M7.9 8h.2M12.4 8h.2",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M2 3v10M14 3v10M4.5 8h7M6.5 5.8L4.3 8l2.2 2.2M9.5 5.8L11.7 8l-2.2 2.2",
  measure: "M2 4v8M14 4v8M2 8h12M5 6.5v3M8 6v4M11 6.5v3",
  area: "M2.5 5V3.5a1 1 0 011-1H5M11 2.5h1.5a1 1 0 011 1V5M13.5 11v1.5a1 1 0 01-1 1H11M5 13.5H3.5a1 1 0 01-1-1V11M7 2.5h2M7 13.5h2M2.5 7v2M13.5 7v2",
  fold: "M4 2.5l4 3.5 4-3.5M4 13.5l4-3.5 4 3.5M2.5 8h11",
  unfold: "M4 5.5l4-3.5 4 3.5M4 10.5l4 3.5 4-3.5M2.5 8h11",
  path: "M2 3.5h5v4.5h3v4.5h4M11.8 10.3l2.2 2.2-2.2 2.2",
  pin: "M5.5 2h5M6.3 2v4.5L4 9.5h8L9.7 6.5V2M8 9.5V14",
  overlap: "M2 4.5h8v4H2zM6 8.5v3h8v-4h-4",
  reload: "M13.5 8a5.5 5.5 0 11-1.7-4M13.5 1.8v2.7h-2.7",
  external:
    "M9 2.5h4.5V7M13.3 2.7L7.5 8.5M11.5 9.5v3.0a1 1 0 01-1 1h-7a1 1 0 01-1-1v-7a1 1 0 011-1h3",
} as const;

export type IconName = keyof typeof PATHS;

/** Decoration only: what it means must stand in words or in the button's label. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      class={`icon icon-${name}`}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      aria-hidden="true"
      focusable="false"
    >
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
