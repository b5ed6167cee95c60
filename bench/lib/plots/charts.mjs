import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import { median, round } from '../figures.mjs'
import { digits, image, source, table } from './tables.mjs'

// How many cores the measured costs mean at higher rates.

const rates = [10_000, 100_000]
/** A core that is used more has no room for peaks. */
const utilisation = 0.7

/** Where a role's work runs one at a time; its processes then do not add up. */
const limits = {
  api: 'any number of processes',
  'tx-processor': 'signatures in any number of processes; the batch under the lock in one at a time',
  sequencer: 'one active; its roots on one thread',
  PostgreSQL: 'one connection writes the ledger at a time',
  Redis: 'one thread for each queue',
}

export const arithmetic = {
  needs: ['flow-split', 'disk'],

  write({ 'flow-split': { flows }, disk: { places } }) {
    const { microseconds } = flows.findLast(({ rate }) => rate === 0) ?? flows.at(-1)
    const cores = (each, rate) => digits((each * rate) / 1e6 / utilisation)
    const sum = sumOf(microseconds)
    // The trie keeps at most 128 states, however many transactions follow.
    const growing = places.filter(({ place }) => !place.startsWith('trie'))
    const bytes = growing.reduce((total, place) => total + place.bytes, 0)
    const terabytes = (rate) => digits((bytes * rate * 86_400) / 1e12)
    return [
      `Cores at ${utilisation * 100} % utilisation, with what a transaction costs at the highest rate above:`,
      table([
        ['role', 'µs', '10,000 tx/s', '100,000 tx/s', 'in parallel'],
        ...Object.entries(microseconds).map(([role, each]) => [
          role,
          digits(each),
          ...rates.map((rate) => cores(each, rate)),
          limits[role] ?? '',
        ]),
        ['**sum**', digits(sum), ...rates.map((rate) => cores(sum, rate)), ''],
        ['tables, TB a day', '', ...rates.map(terabytes), ''],
      ]),
    ].join('\n\n')
  },
}

// The differences between versions of Node.js.

export const engines = {
  needs: ['engines'],

  tableOf(figures) {
    const rows = figures.map(({ version, submit, flow, start }) => [
      version,
      round(submit.perSecond),
      digits(submit.ratio),
      round(flow.perSecond),
      round(sumOf(flow.microseconds)),
      round(start.ms),
      round(start.processorMs),
    ])
    const head = [
      'Node.js',
      '/submit a second',
      'of bare Fastify',
      'flow, tx/s',
      'µs per transaction',
      'start ms',
      'of the processor',
    ]
    return table([head, ...rows])
  },

  write({ engines: measured }) {
    const what = `Flows of ${measured.seconds} s over three roles; starts from a template`
    return [engines.tableOf(measured.engines), source(measured, what)].join('\n\n')
  },
}

// The costs of a transaction for each role.

export const offered = (rate) => (rate ? `${round(rate)}/s offered` : 'as many as are taken')
/** Microseconds of all roles. */
export const sumOf = (microseconds) => Object.values(microseconds).reduce((sum, each) => sum + each, 0)
const title = 'Processor time per transaction by role, in the order of the table'

export const cost = {
  needs: ['flow-split'],

  write({ 'flow-split': flow }) {
    const roles = Object.keys(flow.flows[0].microseconds)
    const rows = flow.flows.map(({ rate, perSecond, ceiling, microseconds, fromAcceptanceS, answersMs }) => [
      offered(rate),
      round(perSecond),
      (perSecond / ceiling).toFixed(2),
      ...roles.map((role) => round(microseconds[role])),
      round(sumOf(microseconds)),
      answersMs.map(digits).join(' / '),
      fromAcceptanceS.map((each) => each.toFixed(1)).join(' / '),
    ])
    const head = [
      '',
      'tx/s',
      'of libsodium',
      ...roles.map((role) => `${role} µs`),
      'sum µs',
      '200 after ms',
      'accepted → committed s',
    ]
    const memory = flow.flows.map(({ rate, memoryMiB }) => [
      offered(rate),
      ...roles.filter((role) => role in memoryMiB).map((role) => round(memoryMiB[role])),
    ])
    const remembered = roles.filter((role) => role in flow.flows[0].memoryMiB)
    return [
      table([head, ...rows]),
      'Pairs are p50 / p95. The largest anonymous memory of each process, in MiB:',
      table([['', ...remembered], ...memory]),
      image('cost', title),
      source(
        flow,
        `Runs of ${round(flow.seconds)} s over ${round(flow.outputs)} outputs of ` +
          `${round(flow.addresses)} addresses`,
      ),
    ].join('\n\n')
  },

  plots({ 'flow-split': flow }) {
    const parts = flow.flows.flatMap(({ rate, microseconds }) =>
      Object.entries(microseconds).map(([role, each]) => ({ rate: offered(rate), role, each })),
    )
    return {
      cost: plotOf(title, {
        marginLeft: 140,
        height: 90 + 50 * flow.flows.length,
        x: { label: 'µs per transaction', grid: true },
        y: { label: null, domain: flow.flows.map(({ rate }) => offered(rate)) },
        marks: roleBars(parts, { y: 'rate' }),
      }),
    }
  },
}

// How queries, the start, roots and blocks grow with the ledger.

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

// Plots as SVG files, without a browser.

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
function lineNames(points, { x, y, name }) {
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
