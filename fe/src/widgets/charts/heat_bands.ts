/** Rows of a heat map that share a band of pixels where there are too many, and names beside some of them. */

import { LOWEST_CELL, type HeatValues } from "./heat";

/** Room for all rows at once, px; rows that fit keep `LOWEST_CELL`, more of them get thinner, then share bands. */
export const FITTED_HEIGHT = 512;
const THINNEST_BAND = 2;

export interface Bands {
  /** Rows per band; the last band may hold fewer. */
  size: number;
  values: HeatValues;
  /** The row of the largest value of each band and column; the first row where none is known. */
  rows: readonly (readonly number[])[];
}

/** How many rows share a band so that all of them are in sight. */
export function bandSize(rows: number): number {
  return Math.max(1, Math.ceil(rows / Math.floor(FITTED_HEIGHT / THINNEST_BAND)));
}

/** Room for as many rows as are drawn. */
export function bandRoom(rows: number, fit: boolean, height: number): number {
  return fit && rows * LOWEST_CELL > height ? FITTED_HEIGHT : height;
}

/** Rows in their order, `size` of them to a band that shows the largest value of each column. */
export function bandsOf(values: HeatValues, order: readonly number[], size: number): Bands {
  const bands: { values: (number | null)[]; rows: number[] }[] = [];
  for (let first = 0; first < order.length; first += size) {
    const band = order.slice(first, first + size);
    const columns = band.reduce((most, row) => Math.max(most, values[row]?.length ?? 0), 0);
    const found: (number | null)[] = [];
    const rows: number[] = [];
    for (let column = 0; column < columns; column++) {
      let most: number | null = null;
      let at = band[0] ?? 0;
      for (const row of band) {
        const value = values[row]?.[column] ?? null;
        if (value !== null && (most === null || value > most)) [most, at] = [value, row];
      }
      found.push(most);
      rows.push(at);
    }
    bands.push({ values: found, rows });
  }
  return { size, values: bands.map((band) => band.values), rows: bands.map((band) => band.rows) };
}

/** What a cell stands for, where it is more than one row and column: `Each cell is 4 ranks × 2 steps; the largest value is shown.` */
export function ruleOf(
  rows: number,
  columns: number,
  words: readonly [row: string, column: string],
): string {
  if (rows < 2 && columns < 2) return "";
  const part = (count: number, word: string): string => `${count} ${word}${count > 1 ? "s" : ""}`;
  return `Each cell is ${part(rows, words[0])} × ${part(columns, words[1])}; the largest value is shown.`;
}

/** Places of labels beside rows at `wanted` px (ascending), `height` px each, so that none covers another. */
export function labelPlaces(wanted: readonly number[], height: number, room: number): number[] {
  const places: number[] = [];
  for (const at of wanted)
    places.push(Math.max(height / 2, at, (places.at(-1) ?? -height) + height));
  let bottom = room - height / 2;
  for (let i = places.length - 1; i >= 0; i--) {
    places[i] = Math.min(places[i] ?? 0, bottom);
    bottom = (places[i] ?? 0) - height;
  }
  return places;
}
