// Generated from docs/definitions.md by `npm run generate`. Do not edit.

export interface Definition {
  label: string;
  text: string;
}

export const DEFINITIONS: Readonly<Record<string, Definition>> = {};
