import type { BlockCount } from '@ratatosk/ports'

const titles = ['height', 'state', 'transactions', 'header hash']

/**
 * Formats blocks and their transaction counts as a table, one line per block.
 *
 * @example
 * ```
 * Blocks: 2, transactions: 31
 *   height  state      transactions  header hash
 *       13  committed            11  91bb0123…
 *       12  merged               20  77aa01bc…
 * ```
 */
export function drawBlockCounts(blocks: readonly BlockCount[]): string {
  if (blocks.length === 0) return 'Blocks: none'
  const total = blocks.reduce((sum, { transactions }) => sum + transactions, 0)
  const rows = blocks.map(({ height, state, transactions, headerHash }) => [
    String(height),
    state,
    String(transactions),
    Buffer.from(headerHash).toString('hex'),
  ])
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const lines = [titles, ...rows].map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0
        return column % 2 === 0 ? cell.padStart(width) : cell.padEnd(width)
      })
      .join('  ')
      .trimEnd(),
  )
  return [`Blocks: ${blocks.length}, transactions: ${total}`, ...lines.map((line) => `  ${line}`)].join('\n')
}
