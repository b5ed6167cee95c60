import { settingNotes } from './schema.js'

/** Messages about misspelled settings: one edit up to five letters, else two, as `HOME` is not `HOST`. */
export function nearMisses(environment: Readonly<Record<string, string | undefined>>): string[] {
  const names = [...settingNotes].flatMap(([name, { secret }]) => (secret ? [name, `${name}_FILE`] : [name]))
  const known = new Set(names)
  return Object.keys(environment).flatMap((variable) => {
    if (known.has(variable)) return []
    const near = names.find((name) => edits(variable, name) <= (name.length <= 5 ? 1 : 2))
    return near === undefined
      ? []
      : [`${variable} is not a setting. Did you mean ${near}? If not, set UNKNOWN_SETTINGS=warn.`]
  })
}

/** Insertions, deletions, substitutions and swaps of neighbours between two texts; Infinity above two. */
export function edits(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > 2) return Number.POSITIVE_INFINITY
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const at = (line: readonly number[], index: number) => line[index] ?? Number.POSITIVE_INFINITY
      const same = from[row - 1] === to[column - 1]
      let best = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      )
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      if (row > 1 && column > 1 && swapped) best = Math.min(best, at(beforeLast, column - 2) + 1)
      current.push(best)
    }
    if (Math.min(...last, ...current) > 2) return Number.POSITIVE_INFINITY
    beforeLast = last
    last = current
  }
  return last[to.length] ?? Number.POSITIVE_INFINITY
}
