/** The times of a block of a cheat, in milliseconds from its commitment. */
export interface Phases {
  /** A watcher has found it, or has missed its body. */
  readonly detected: number
  /** The fraud's first datum, verdict or removal is recorded to be sent. */
  readonly proven: number
  /** The watcher has seen that the state queue no longer has it. */
  readonly removed: number
  /** The honest operator has committed the next block. */
  readonly recommitted: number
}

/** Quantiles by nearest rank. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** Lines with p50 and p95 of each phase, in seconds. */
export function tableOf(groups: ReadonlyMap<string, readonly Phases[]>): string[] {
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  const row = (...cells: readonly string[]) =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(32) : cell.padStart(8))).join('')
  const lines = [row('seconds from the commitment', 'runs', 'p50', 'p95')]
  for (const [group, runs] of groups)
    for (const phase of ['detected', 'proven', 'removed', 'recommitted'] as const) {
      const values = runs.map((run) => run[phase])
      const [half, most] = [quantile(values, 0.5), quantile(values, 0.95)].map(seconds)
      lines.push(row(`${group}: ${phase}`, String(runs.length), half!, most!))
    }
  return lines
}
