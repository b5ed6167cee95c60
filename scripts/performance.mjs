import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { arithmetic, blocks, cost, engines, growth, roots } from '../bench/lib/plots/charts.mjs'
import { scale } from '../bench/lib/plots/scale.mjs'
import { disk, ratios } from '../bench/lib/plots/tables.mjs'
import { root } from './prepare.mjs'

const folder = join(root, 'docs/performance')
const fileOf = (name) => join(folder, `${name}.json`)

/** The tables of docs/performance.md from its figures; with `plots`, also writes the plots. */
export function performanceSections({ plots }) {
  const all = { ratios, cost, growth, roots, blocks, scale, disk, arithmetic, engines }
  return Object.entries(all).flatMap(([name, section]) => {
    if (!section.needs.every((each) => existsSync(fileOf(each)))) return []
    const figures = Object.fromEntries(
      section.needs.map((each) => [each, JSON.parse(readFileSync(fileOf(each), 'utf8'))]),
    )
    if (plots) {
      for (const [file, svg] of Object.entries(section.plots?.(figures) ?? {}))
        writeFileSync(join(folder, `${file}.svg`), svg)
    }
    return [['docs/performance.md', name, section.write(figures)]]
  })
}
