/**
 * The picture of all lanes, one px high each, as wide as the canvas. Stretching it over the rows costs the same however many slices there are, which is
 * why it stands in for a rectangle per slice.
 */

/** Where the pixels go, so that tests can do without a canvas. */
export interface Surface {
  pixels: Uint32Array;
  /** Takes the first `rows` rows over into `image`. */
  put: (rows: number) => void;
  image: CanvasImageSource;
}

export type MakeSurface = (width: number, rows: number) => Surface;

export function canvasSurface(width: number, rows: number): Surface {
  const canvas = new OffscreenCanvas(width, rows);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("This browser gives no 2D context for an OffscreenCanvas.");
  const data = new ImageData(width, rows);
  return {
    pixels: new Uint32Array(data.data.buffer),
    put: (used) => context.putImageData(data, 0, 0, 0, 0, width, used),
    image: canvas,
  };
}

const SPARE_ROWS = 16;

export class Strip {
  #width = 0;
  #rows = 0;
  #made = 0;
  #surface: Surface | null = null;
  readonly #make: MakeSurface;

  constructor(make: MakeSurface) {
    this.#make = make;
  }

  begin(width: number, rows: number): Uint32Array {
    if (!this.#surface || width !== this.#width || rows > this.#made) {
      this.#made = Math.max(1, rows + SPARE_ROWS);
      this.#width = width;
      this.#surface = this.#make(width, this.#made);
    } else {
      // `put` takes over what was written last time otherwise.
      this.#surface.pixels.fill(0, 0, width * Math.max(rows, this.#rows));
    }
    this.#rows = rows;
    return this.#surface.pixels;
  }

  /** The picture, `width` px wide, row i at y = i. */
  finish(): CanvasImageSource | null {
    if (!this.#surface || this.#rows === 0) return null;
    this.#surface.put(this.#rows);
    return this.#surface.image;
  }
}
