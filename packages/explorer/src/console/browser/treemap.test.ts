import { describe, expect, it } from 'vitest'
import { type Box, treemap } from './treemap.js'

const box: Box = { x: 10, y: 20, width: 300, height: 100 }
const area = ({ width, height }: Box) => width * height

describe('a treemap', () => {
  it.each([
    [[1]],
    [[3, 1]],
    [[900, 1, 1, 1]],
    [[1, 1, 1, 900]],
    [Array.from({ length: 50 }, (_, n) => 1 + ((n * 37) % 400))],
  ])('gives each weight its share of the area: %j', (weights) => {
    const sum = weights.reduce((total, weight) => total + weight, 0)
    const parts = treemap(weights, box)
    expect(parts).toHaveLength(weights.length)
    for (const [place, part] of parts.entries())
      expect(area(part)).toBeCloseTo((30_000 * weights[place]!) / sum, 6)
  })

  it('covers the rectangle without overlaps', () => {
    const parts = treemap([5, 3, 8, 2, 2, 7], box)
    const within = (x: number, y: number) =>
      parts.filter((part) => x > part.x && x < part.x + part.width && y > part.y && y < part.y + part.height)
    const counts = new Set<number>()
    for (let x = 10.5; x < 310; x += 7.3)
      for (let y = 20.5; y < 120; y += 3.7) counts.add(within(x, y).length)
    expect([...counts]).toEqual([1])
  })

  it('has no parts without weights', () => {
    expect(treemap([], box)).toEqual([])
  })
})
