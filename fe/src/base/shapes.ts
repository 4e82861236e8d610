/** Shapes of tensors as text: how the page shows them, and how a search finds them however they are written. */

/** `[[32,3,224,224],[],[[2,3],[4]],[]]` as `32×3×224×224, –, (2×3, 4), –`: an argument without a shape is a dash. Other text stays as it is. */
export function readableShapes(json: string | null): string {
  if (json === null) return "";
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value.map(readableInput).join(", ") || "–" : json;
  } catch {
    return json;
  }
}

function readableInput(input: unknown): string {
  if (!Array.isArray(input))
    return typeof input === "string" ? input || "–" : JSON.stringify(input);
  if (input.length === 0) return "–";
  if (input.every((size) => typeof size === "number")) return input.join("×");
  return `(${input.map(readableInput).join(", ")})`;
}

/** Whether a search text holds a shape: `32×256`, `[32, 256]`, `[]`, or the begin of one. */
export const hasShape = (text: string): boolean => /×|\[\s*(?:\d|\]|\[)/.test(text);

/**
 * A text in lower case with its shapes in one spelling, and all brackets gone:
 *
 *     [[32, 256, 56], [], [[2, 3], [4]]]   →   32×256×56,–,2×3,4
 *     32×256×56, –, (2×3, 4)               →   32×256×56,–,2×3,4
 *     [32, 25                              →   32×25…
 */
export function plainShapes(text: string): string {
  return text
    .toLowerCase()
    .replace(/\s*([,×])\s*/g, "$1")
    .replace(/([[(])\s+|\s+([\])])/g, "$1$2")
    .replace(/\[((?:\d+,)+\d*)$/, "$1…")
    .replace(/×$/, "×…")
    .replace(/\[((?:\d+,)*\d+)?\]|(?:\d+,)+\d*…/g, (found, whole?: string) =>
      found === "[]" ? "–" : (whole ?? found).replaceAll(",", "×"),
    )
    .replace(/[[\]()]/g, "");
}

/**
 * Where a word of a search that holds shapes stands in a text (both of `plainShapes`): its first and last shape are whole, so that `[3, 4]` finds neither
 * `[13, 4]` nor `[2, 3, 4]`; one that is only begun (`…`) may go on.
 */
export function holdsShapes(text: string, begun: string): boolean {
  const word = begun.replace(/…$/, "");
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const [before = "", after = ""] = [text[at - 1], text[at + word.length]];
    if (!joins(before, word[0]) && (word !== begun || !joins(after, word.at(-1)))) return true;
  }
  return false;
}

/** Whether two neighbouring signs belong to one shape. */
function joins(outside: string, inside = ""): boolean {
  return /[\d×]/.test(outside) && /[\d×]/.test(inside);
}
