// How queries, the start, roots and blocks grow with the ledger.
import { median, round } from '../figures.mjs'
import { digits, image, source, table } from './markdown.mjs'
import { lineNames, Plot, plotOf } from './svg.mjs'

const sizesOf = (ledgers) => [...new Set(ledgers.map(({ size }) => size))].sort((a, b) => a - b)
const outputs = (ledgers) => ({
  type: 'log',
  label: 'unspent outputs',
  ticks: sizesOf(ledgers),
  tickFormat: round,
})
const milliseconds = { type: 'log', label: 'ms', grid: true }

const queriesTitle = 'Time of queries (p50) and of the start, over the number of unspent outputs'
const blocksTitle = 'Time of each block of 10,000, by the number of unspent outputs'

export const growth = {
  needs: ['growth'],

  write({ growth: { ledgers, share, machine } }) {
    const names = ledgers.at(-1).queries.map(({ name }) => name)
    const cell = (found) => (found ? `${digits(found.p50)} / ${digits(found.p95)}` : '')
    const rows = names.map((name) => [
      `\`${name.split(',')[0]}\`${name.slice(name.split(',')[0].length)}`,
      ...ledgers.map(({ queries }) => cell(queries.find((query) => query.name === name))),
    ])
    const many = ({ queries }) => queries.find(({ name }) => name.endsWith('with many'))
    return [
      table([
        ['p50 / p95 in ms', ...ledgers.map(({ size }) => round(size))],
        ...rows,
        [`outputs of that address`, ...ledgers.map(({ shared }) => round(shared))],
        ['its answer, MiB', ...ledgers.map((ledger) => digits(many(ledger).bytes / 2 ** 20))],
        ['memory of the server meanwhile, MiB', ...ledgers.map((ledger) => round(many(ledger).memory))],
        [
          'start with an empty `DATA_DIR`: trie built, s',
          ...ledgers.map(({ built }) => digits(built / 1000)),
        ],
        ['further starts: trie opened, ms', ...ledgers.map(({ opened }) => digits(opened))],
      ]),
      image('growth', queriesTitle),
      source({ machine }, `One address has ${share * 100} % of the outputs, the others about ten each`),
    ].join('\n\n')
  },

  plots({ growth: { ledgers } }) {
    const points = ledgers.flatMap(({ size, queries, built }) => [
      ...queries.map(({ name, p50 }) => ({ size, name, ms: p50 })),
      { size, name: 'trie built at the start', ms: built },
    ])
    return {
      growth: plotOf(queriesTitle, {
        marginRight: 190,
        x: outputs(ledgers),
        y: milliseconds,
        marks: [
          Plot.line(points, { x: 'size', y: 'ms', stroke: 'name', marker: 'circle' }),
          lineNames(points, { x: 'size', y: 'ms', name: 'name' }),
        ],
      }),
    }
  },
}

export const roots = {
  needs: ['roots'],

  write({ roots: { ledgers, blockSize, machine } }) {
    const sizes = sizesOf(ledgers)
    const of = (size, place) => ledgers.find((each) => each.size === size && each.place === place)
    return [
      table([
        ['ms', ...sizes.map(round)],
        ...['memory', 'LMDB'].flatMap((place) => [
          [`roots, outputs in ${place}`, ...sizes.map((size) => digits(of(size, place).applied))],
          [`bare Blake2b-256 beside them`, ...sizes.map((size) => digits(of(size, place).bare))],
        ]),
      ]),
      source({ machine }, `The roots of ${round(blockSize)} transfers at once, nothing prepared`),
    ].join('\n\n')
  },
}

export const blocks = {
  needs: ['long'],

  write({ long: { ledgers, blockSize, unfreed, rate, machine } }) {
    const parts = ({ blocks }) => [blocks.slice(0, unfreed), blocks.slice(unfreed)]
    const cells = (each, of) =>
      each.length === 0 ? '' : `${digits(median(each.map(of)))} / ${digits(Math.max(...each.map(of)))}`
    const rows = ledgers.map((ledger) => {
      const [early, late] = parts(ledger)
      return [
        round(ledger.size),
        cells(early, ({ total }) => total),
        cells(late, ({ total }) => total),
        cells(ledger.blocks, ({ hashed }) => hashed),
        digits(median(ledger.blocks.map(({ cpu }) => cpu))),
      ]
    })
    return [
      table([
        ['outputs', `ms, up to block ${unfreed}`, 'ms, after it', 'of it the roots', 'CPU ms'],
        ...rows,
      ]),
      'Medians and the longest.',
      image('blocks', blocksTitle),
      source(
        { machine },
        `Blocks of ${round(blockSize)} filled ` +
          `${rate > 0 ? `at ${round(rate)} transactions a second` : 'as fast as they are accepted'}`,
      ),
    ].join('\n\n')
  },

  plots({ long: { ledgers } }) {
    const points = ledgers.flatMap(({ size, blocks }) =>
      blocks.map(({ total }, n) => ({ block: n + 1, total, name: `${round(size)} outputs` })),
    )
    return {
      blocks: plotOf(blocksTitle, {
        marginRight: 120,
        x: { label: 'block' },
        y: { label: 'ms', grid: true, zero: true },
        marks: [
          Plot.lineY(points, { x: 'block', y: 'total', stroke: 'name' }),
          lineNames(points, { x: 'block', y: 'total', name: 'name' }),
        ],
      }),
    }
  },
}
