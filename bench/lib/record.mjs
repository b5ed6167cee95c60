// Figures for docs/performance.md, which `npm run generate` writes: a file for each measurement, in
// the folder that BENCH_JSON names.
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'

/** Writes figures with the machine and its load, replacing older ones; nothing without BENCH_JSON. */
export function record(name, figures) {
  const folder = process.env.BENCH_JSON
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  const machine = {
    measured: new Date().toISOString().slice(0, 10),
    processor: cpus()[0].model,
    cores: availableParallelism(),
    node: process.version,
    load: Number(loadavg()[0].toFixed(1)),
  }
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify({ machine, ...figures }, undefined, 2)}\n`)
}
