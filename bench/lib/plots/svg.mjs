// Plots as SVG files, without a browser.
import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'

const { document } = parseHTML('<!doctype html><html><body></body></html>')

/** Readable on a light page and on a dark one. */
const style = {
  background: '#ffffff',
  color: '#1f2328',
  fontFamily: 'system-ui, sans-serif',
  fontSize: '12px',
}

/**
 * @param {string} title what the plot says, for those who do not see it
 * @param {import('@observablehq/plot').PlotOptions} options
 * @returns {string} an SVG document
 */
export function plotOf(title, options) {
  const svg = Plot.plot({
    document,
    style,
    width: 760,
    height: 360,
    marginLeft: 70,
    marginRight: 20,
    ariaLabel: title,
    ...options,
  })
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  return `${svg.outerHTML}\n`
}

/** Pixels from one line of text to the next. */
const lineHeight = 13

/** Names of lines, beside their last points, none over another. */
export function lineNames(points, { x, y, name }) {
  const last = new Map(points.map((point) => [point[name], point]))
  return Plot.text([...last.values()], {
    x,
    y,
    text: name,
    textAnchor: 'start',
    dx: 6,
    initializer(data, facets, channels, scales) {
      const pixels = Array.from(channels.y.value, scales.y)
      const order = [...pixels.keys()].sort((a, b) => pixels[b] - pixels[a])
      for (const [place, one] of order.entries())
        if (place > 0) pixels[one] = Math.min(pixels[one], pixels[order[place - 1]] - lineHeight)
      return { data, facets, channels: { y: { value: pixels } } }
    },
  })
}

/** Bars made of the costs of roles, the larger ones with their names. */
export function roleBars(parts, { y, fy }) {
  const sums = new Map()
  for (const part of parts) {
    const bar = `${part[y]} ${part[fy]}`
    sums.set(bar, (sums.get(bar) ?? 0) + part.each)
  }
  const named = Math.max(...sums.values()) / 9
  const stacked = (options) => Plot.stackX({ x: 'each', y, ...(fy && { fy }), ...options })
  return [
    Plot.barX(parts, stacked({ fill: 'role', inset: 0.5 })),
    Plot.text(
      parts,
      stacked({ z: 'role', fill: 'white', text: ({ each, role }) => (each < named ? '' : role) }),
    ),
    Plot.ruleX([0]),
  ]
}

export { Plot }
