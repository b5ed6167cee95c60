// Writes the tables and plots of docs/performance.md from the figures in docs/performance, which benchmarks
// write there with BENCH_JSON=docs/performance. Measures nothing.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { arithmetic } from '../bench/lib/plots/arithmetic.mjs'
import { cost } from '../bench/lib/plots/cost.mjs'
import { disk } from '../bench/lib/plots/disk.mjs'
import { blocks, growth, roots } from '../bench/lib/plots/growth.mjs'
import { scale } from '../bench/lib/plots/scale.mjs'
import { serial } from '../bench/lib/plots/serial.mjs'
import { root, run } from './prepare.mjs'

const page = join(root, 'docs/performance.md')
const folder = join(root, 'docs/performance')
const sections = { cost, growth, roots, blocks, scale, serial, disk, arithmetic }
const fileOf = (name) => join(folder, `${name}.json`)

let text = readFileSync(page, 'utf8')
for (const [name, { needs, write, plots }] of Object.entries(sections)) {
  const missing = needs.filter((each) => !existsSync(fileOf(each)))
  if (missing.length > 0) {
    console.log(`${name}: there are no figures of ${missing.join(', ')}`)
    continue
  }
  const figures = Object.fromEntries(
    needs.map((each) => [each, JSON.parse(readFileSync(fileOf(each), 'utf8'))]),
  )
  const place = new RegExp(`(<!-- ${name}: .*? -->\n)[\\s\\S]*?(<!-- /${name} -->)`)
  if (!place.test(text)) throw new Error(`docs/performance.md has no place for ${name}`)
  text = text.replace(place, (_, open, close) => `${open}\n${write(figures)}\n\n${close}`)
  for (const [file, svg] of Object.entries(plots?.(figures) ?? {}))
    writeFileSync(join(folder, `${file}.svg`), svg)
}
writeFileSync(page, text)
process.exit(
  run(process.execPath, [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'format', '--write', page]),
)
