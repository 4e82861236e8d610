/** Errors of the page itself, and the one way to turn anything thrown into a text. */

/** What a person is told: what happened and what can be done. */
export interface Complaint {
  title: string;
  text: string;
  hint: string;
}

/** Any thrown value as a message; an `Error`'s own message where there is one. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error && thrown.message) return thrown.message;
  const text = typeof thrown === "string" ? thrown : "";
  return text || "An error without a message.";
}
