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
