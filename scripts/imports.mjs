// The imports of files from each other, and the circles that they make of folders.
import { dirname, join } from 'node:path'

/** The relative imports and exports of a file: its name, and that of the imported file as it is written. */
export const importsOf = (name, text) =>
  [...text.matchAll(/^(?:import|export)\b[^;]*?from '(\.[^']+)'/gm)].map(([, path]) => ({
    from: name,
    to: join(dirname(name), path),
  }))

const packageOf = (name) => name.split('/').slice(0, 2).join('/')

/** Circles of folders within a package: sets of folders that reach each other, as text. */
export function folderCircles(imports) {
  const arrows = new Map()
  for (const { from, to } of imports) {
    if (packageOf(from) !== packageOf(to)) continue
    const [a, b] = [dirname(from), dirname(to)]
    // A folder is part of the one that it is in.
    if (a !== b && !a.startsWith(`${b}/`) && !b.startsWith(`${a}/`))
      arrows.set(a, (arrows.get(a) ?? new Set()).add(b))
  }
  const reached = (start) => {
    const seen = new Set()
    const visit = (each) => {
      for (const next of arrows.get(each) ?? []) {
        if (seen.has(next)) continue
        seen.add(next)
        visit(next)
      }
    }
    visit(start)
    return seen
  }
  const reach = new Map([...arrows.keys()].map((each) => [each, reached(each)]))
  const circles = new Set()
  for (const [each, seen] of reach) {
    if (!seen.has(each)) continue
    const circle = [...seen].filter((other) => reach.get(other)?.has(each))
    circles.add(circle.sort().join(' '))
  }
  return [...circles]
}
