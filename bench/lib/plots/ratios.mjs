import { round } from '../figures.mjs'
import { digits, table } from './markdown.mjs'

const what = {
  submit: '`POST /submit` into Redis; a bare Fastify route',
  validate: 'queue → mempool ledger, signed transfers',
  'phase-a': 'decoding and rules without a ledger, one core',
  decode: 'decoding alone, one core',
}

/** Rates beside a ceiling that was measured in the same run. */
export const ratios = {
  needs: Object.keys(what),

  write(figures) {
    const rows = Object.entries(figures).map(([name, { perSecond, ceiling, ratio, machine }]) => [
      `\`${name}\`: ${what[name]}`,
      round(perSecond),
      ceiling === undefined ? '' : round(ceiling),
      digits(ratio),
      machine.measured,
    ])
    return table([['benchmark', 'a second', 'ceiling', 'ratio', 'measured'], ...rows])
  },
}
