export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error && thrown.message) return thrown.message;
  const text = typeof thrown === "string" ? thrown : "";
  return text || "An error without a message.";
}
