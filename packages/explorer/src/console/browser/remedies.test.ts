import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { remedies, remedyOf } from './remedies.js'

const packages = fileURLToPath(new URL('../../../../', import.meta.url))

/** The sources that find failures. */
function texts(): readonly string[] {
  return ['ledger', 'workers'].flatMap((name) =>
    readdirSync(join(packages, name, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !/\.(test|tap)\.ts$|(^|\/)test\//.test(path))
      .map((path) => readFileSync(join(packages, name, 'src', path), 'utf8')),
  )
}

/** The names of predicates that sources add to failures. */
function predicates(): Set<string> {
  const found = texts().flatMap((text) => [...text.matchAll(/(?:\.add\(|\bpredicate: )\s*'([A-Z]\w+)'/g)])
  return new Set(found.map(([, name = '']) => name))
}

test('every rule of the ledger has a remedy, once, and every remedy a rule', () => {
  const known = predicates()
  expect(known.size).toBeGreaterThan(40)
  expect([...known].filter((name) => remedyOf(name) === undefined)).toEqual([])
  const named = remedies.flatMap(({ predicates: names }) => names)
  expect(new Set(named).size).toBe(named.length)
  const unknown = named.filter(
    (name) => !known.has(name) && !texts().some((text) => text.includes(`'${name}'`)),
  )
  expect(unknown).toEqual([])
})
