import type { Theme } from "./theme";
import CSS from "./tokens.css?raw";

/** The style sheet's variables of a theme that are colours, without their dashes. */
export function colours(theme: Theme): Map<string, string> {
  const block = new RegExp(`\\[data-theme="${theme}"\\] \\{([^}]*)\\}`).exec(CSS)?.[1] ?? "";
  return new Map(
    [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]),
  );
}
