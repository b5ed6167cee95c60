// Blocks of 10,000 by the code of another folder and by this one, in turn: BENCH_BEFORE names a checkout that
// is built. Each runs its own `blocks.mjs` with the same settings; machines drift, so only what ran one after
// the other is compared.
import { execFileSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median, round } from '../figures.mjs'

const before = process.env.BENCH_BEFORE
const pairs = Number(process.env.BENCH_PAIRS ?? 5)

function blockOf(folder) {
  const env = { BENCH_ROUNDS: '5', ...process.env, BENCH_PARTS: 'blocks' }
  const said = execFileSync(process.execPath, ['blocks.mjs'], {
    cwd: join(folder, 'bench'),
    env,
    encoding: 'utf8',
  })
  const [, middle, longest] = /without layer 1: ([\d,]+) ms, at most ([\d,]+) ms/.exec(said) ?? []
  if (middle === undefined) throw new Error(`${folder} does not tell how long a block takes: ${said}`)
  return { middle: Number(middle.replaceAll(',', '')), longest: Number(longest.replaceAll(',', '')) }
}

const here = fileURLToPath(new URL('../../..', import.meta.url))

export async function measurePairs() {
  const figures = []
  for (let n = 1; n <= pairs; n++) {
    // The one that runs second may find a warmer or a busier machine.
    const turns = n % 2 === 0 ? [here, before] : [before, here]
    const found = new Map(turns.map((folder) => [folder, blockOf(folder)]))
    const [first, second] = [found.get(before), found.get(here)]
    figures.push({ first, second, ratio: second.middle / first.middle })
    console.log(
      `  pair ${n}: ${round(first.middle)} ms before (at most ${round(first.longest)}), ` +
        `${round(second.middle)} ms now (at most ` +
        `${round(second.longest)}): ${(second.middle / first.middle).toFixed(2)}, load ` +
        `${loadavg()[0].toFixed(1)}`,
    )
  }
  const middle = (of) => median(figures.map(of))
  console.log(
    `block of 10,000: ${round(middle(({ first }) => first.middle))} ms before, ` +
      `${round(middle(({ second }) => second.middle))} ms now, ` +
      `${middle(({ ratio }) => ratio).toFixed(2)} times as long (medians of ${pairs} pairs)`,
  )
}
