// Which files data passes through, by a trace of one run:
//   node scripts/walk.mjs [<path of a built checkout>] [--files] [--only=<name of a walk>]
//
// A walk lists files in the order in which their functions are first entered. It goes on from the file that
// was entered last; where another file calls the next one, the reader goes back to that file, which counts as
// a return. Each walk counts the packages that carry it, not the codecs and rules that all of them use.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { flows } from './walk/flows.mjs'
import { copyInstrumented } from './walk/instrument.mjs'

const [, , ...args] = process.argv
const checkout = resolve(args.find((each) => !each.startsWith('--')) ?? '.')
const folder = mkdtempSync(join(tmpdir(), 'ratatosk-walk-'))
const wanted = args.find((each) => each.startsWith('--only='))?.slice('--only='.length)
try {
  copyInstrumented(checkout, folder)
  for (const [name, { run, counted, names = /./ }] of Object.entries(flows)) {
    if (wanted && wanted !== name) continue
    const work = join(folder, name)
    mkdirSync(work)
    const trace = join(work, 'trace.jsonl')
    writeFileSync(trace, '')
    const window = await run(folder, work, trace)
    const entries = readFileSync(trace, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
    const isCounted = (file) => counted(file) && names.test(readFileSync(join(checkout, file), 'utf8'))
    report(name, walkOf(entries.filter((entry) => entry.window === window && isCounted(entry.file))))
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** The files in order of entry, each with the file to which the reader returns before it. */
function walkOf(entries) {
  const steps = new Map()
  let here
  for (const { file, callers } of entries) {
    if (steps.has(file)) continue
    const caller = callers.find((each) => each !== file && steps.has(each))
    steps.set(file, caller === here ? undefined : caller)
    here = file
  }
  return steps
}

function report(name, steps) {
  const returns = [...steps.values()].filter(Boolean).length
  const packages = new Set([...steps.keys()].map((file) => file.split('/')[1]))
  console.log(`${name}: ${steps.size} files, ${returns} returns, in ${[...packages].join(', ')}`)
  if (!args.includes('--files')) return
  for (const [file, back] of steps) {
    if (back) console.log(`  ↩ ${back.replace('/dist/', '/')}`)
    console.log(`  ${file.replace('/dist/', '/')}`)
  }
}
