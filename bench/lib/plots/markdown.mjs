import { round } from '../figures.mjs'

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
