/** A rectangle. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/**
 * Divides a rectangle into parts with areas by weight (above 0), in order: cuts the longer side where the
 * weights on both sides are nearest to equal, and so on.
 */
export function treemap(weights: readonly number[], box: Box): readonly Box[] {
  if (weights.length < 2) return weights.map(() => box)
  const sum = weights.reduce((total, weight) => total + weight, 0)
  let at = 0
  let before = 0
  while (at < weights.length - 1) {
    const after = before + (weights[at] ?? 0)
    if (at > 0 && Math.abs(after - sum / 2) > Math.abs(before - sum / 2)) break
    before = after
    at++
  }
  const { x, y, width, height } = box
  const part = before / sum
  const [first, second] =
    width >= height
      ? [
          { ...box, width: width * part },
          { ...box, x: x + width * part, width: width * (1 - part) },
        ]
      : [
          { ...box, height: height * part },
          { ...box, y: y + height * part, height: height * (1 - part) },
        ]
  return [...treemap(weights.slice(0, at), first), ...treemap(weights.slice(at), second)]
}
