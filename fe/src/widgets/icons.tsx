const PATHS = {
  chevron: "M6 4l4 4-4 4",
  down: "M4 6l4 4 4-4",
  up: "M4 10l4-4 4 4",
  copy: "M5.5 5.5V3a1 1 0 011-1H13a1 1 0 011 1v6.500a1 1 0 01-1 1h-2.500M3 5.500h6.500a1 1 0 011 1V13a1 1 0 01-1 1H3a1 1 0 01-1-1V6.500a1 1 0 011-1z",
  check: "M3 8.500l3.500 3.500L13 4.500",
  download: "M8 2v8m0 0L4.800 6.800M8 10l3.200-3.200M2.500 13.500h11",
  search: "M7 12A5 5 0 107 2a5 5 0 000 10zM10.700 10.700L14 14",
  close: "M4 4l8 8M12 4l-8 8",
  columns: "M2.500 3h11v10h-11zM6.200 3v10M9.800 3v10",
  right: "M2.500 3h11v10h-11zM9.500 3v10",
  bottom: "M2.500 3h11v10h-11zM2.500 9h11",
  table: "M2.500 3h11v10h-11zM2.500 6.300h11M2.500 9.700h11M6.500 6.300V13",
  chart: "M2.500 13.500h11M4.500 11V7M8 11V3M11.500 11V5.500",
  sun: "M8 11a3 3 0 100-6 3 3 0 000 6zM8 1.500v1.300M8 13.200v1.300M1.500 8h1.300M13.200 8h1.300M3.400 3.400l.9.9M11.700 11.700l.9.9M3.400 12.600l.9-.9M11.700 4.300l.9-.9",
  moon: "M13.500 9.800A5.800 5.800 0 016.200 2.500a5.800 5.800 0 107.300 7.300z",
  system: "M2.500 3h11v8h-11zM6 13.500h4M8 11v2.500",
  help: "M6 6.200a2 2 0 113 1.700c-.7.400-1 .8-1 1.500M8 11.600v.1M8 14.500a6.500 6.500 0 100-13 6.500 6.500 0 000 13z",
  warn: "M8 2.500l6 11H2zM8 6.800v3M8 11.700v.1",
  info: "M8 14.500a6.500 6.500 0 100-13 6.500 6.500 0 000 13zM8 7.300v4M8 4.900v.1",
  error:
    "M8 14.500a6.500 6.500 0 100-13 6.500 6.500 0 000 13zM5.800 5.800l4.400 4.400M10.200 5.800l-4.400 4.400",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M2 3v10M14 3v10M4.500 8h7M6.500 5.800L4.300 8l2.200 2.200M9.500 5.800L11.700 8l-2.200 2.200",
  measure: "M2 4v8M14 4v8M2 8h12M5 6.500v3M8 6v4M11 6.500v3",
  area: "M2.500 5V3.500a1 1 0 011-1H5M11 2.500h1.500a1 1 0 011 1V5M13.500 11v1.500a1 1 0 01-1 1H11M5 13.500H3.500a1 1 0 01-1-1V11M7 2.500h2M7 13.500h2M2.500 7v2M13.500 7v2",
  fold: "M4 2.500l4 3.500 4-3.500M4 13.500l4-3.500 4 3.500M2.500 8h11",
  unfold: "M4 5.500l4-3.500 4 3.500M4 10.500l4 3.500 4-3.500M2.500 8h11",
  path: "M2 3.500h5v4.500h3v4.500h4M11.800 10.300l2.200 2.200-2.200 2.200",
  pin: "M5.500 2h5M6.300 2v4.500L4 9.500h8L9.700 6.500V2M8 9.500V14",
  overlap: "M2 4.500h8v4H2zM6 8.500v3h8v-4h-4",
  reload: "M13.500 8a5.500 5.500 0 11-1.700-4M13.500 1.800v2.700h-2.700",
  external:
    "M9 2.500h4.500V7M13.300 2.700L7.500 8.500M11.500 9.500v3.000a1 1 0 01-1 1h-7a1 1 0 01-1-1v-7a1 1 0 011-1h3",
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
