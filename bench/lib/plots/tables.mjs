import { round } from '../figures.mjs'

// The disk space of a transaction.

export const disk = {
  needs: ['disk'],

  write({ disk: { places, transactionBytes, outputBytes, blocks, blockSize, outputs, machine } }) {
    const sum = places.reduce((total, { bytes }) => total + bytes, 0)
    return [
      table([
        ['', 'bytes per transaction'],
        ...places.map(({ place, bytes }) => [place, round(bytes)]),
        ['**sum**', `**${round(sum)}**`],
      ]),
      `The payments of this run leave the ledger as large as it is. An unspent output takes ` +
        `${round(outputBytes)} B of \`mempool_ledger\` and its indexes.`,
      source(
        { machine },
        `${round(blocks)} blocks of ${round(blockSize)} transactions of ` +
          `${round(transactionBytes)} B over ${round(outputs)} outputs`,
      ),
    ].join('\n\n')
  },
}

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

/** @param {string[][]} rows the first is the head; all columns but the first are numbers */
export function table([head, ...rows]) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, n) => (n === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n')
}

/** Three digits: 0.0123, 1.23, 12.3, 123, 12,300. */
export function digits(value) {
  if (value === undefined) return ''
  if (value >= 100) return round(Number(value.toPrecision(3)))
  return String(Number(value.toPrecision(3)))
}

/** Where and when figures were measured. */
export function source({ machine }, what) {
  return (
    `_${what}. ${machine.measured}, ${machine.cores} cores (${machine.processor}), Node.js ` +
    `${machine.node.slice(1)}, load ` +
    `${machine.load} at the end._`
  )
}

export const image = (name, title) => `![${title}](performance/${name}.svg)`
