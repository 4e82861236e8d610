export interface Tile {
  left: number;
  top: number;
  width: number;
  height: number;
}

/**
 * Tiles whose areas are the values (descending, above 0), as near to squares as rows and columns allow.
 *
 * Source: Bruls, Huizing, van Wijk, "Squarified Treemaps", 2000.
 */
export function squarified(values: readonly number[], width: number, height: number): Tile[] {
  const tiles: Tile[] = [];
  const scale = (width * height) / values.reduce((sum, value) => sum + value, 0);
  let room: Tile = { left: 0, top: 0, width, height };
  let first = 0;
  while (first < values.length) {
    const side = Math.min(room.width, room.height);
    let [last, area, worst] = [first, 0, Infinity];
    while (last < values.length) {
      const next = area + (values[last] ?? 0) * scale;
      const most = (values[first] ?? 0) * scale;
      const least = (values[last] ?? 0) * scale;
      const ratio = Math.max(
        (side * side * most) / (next * next),
        (next * next) / (side * side * least),
      );
      if (ratio > worst) break;
      [last, area, worst] = [last + 1, next, ratio];
    }
    room = lay(tiles, values.slice(first, last), scale, area, room);
    first = last;
  }
  return tiles;
}

function lay(
  tiles: Tile[],
  values: readonly number[],
  scale: number,
  area: number,
  room: Tile,
): Tile {
  const upright = room.width >= room.height;
  const depth = area / (upright ? room.height : room.width);
  let along = upright ? room.top : room.left;
  for (const value of values) {
    const length = (value * scale) / depth;
    tiles.push(
      upright
        ? { left: room.left, top: along, width: depth, height: length }
        : { left: along, top: room.top, width: length, height: depth },
    );
    along += length;
  }
  return upright
    ? { ...room, left: room.left + depth, width: Math.max(0, room.width - depth) }
    : { ...room, top: room.top + depth, height: Math.max(0, room.height - depth) };
}
