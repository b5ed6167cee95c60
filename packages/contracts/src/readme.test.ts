import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { costTables } from './test/costs.js'
import { compileOperatorRegistry, compileStateQueue } from './validators/compile.js'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

it('explains every rule', () => {
  const rules = [...compileStateQueue().rules, ...compileOperatorRegistry().rules]
  expect(rules.filter((rule) => !readme.includes(`\`${rule}\``))).toEqual([])
})

/** Tables as their cells alone: the formatter pads them. */
const cells = (tables: string) => tables.replace(/ +/g, ' ').replace(/-+/g, '-')

it('states the sizes and costs of now', () => {
  const [, rest = ''] = readme.split('<!-- costs: begin -->\n')
  const [tables = ''] = rest.split('\n<!-- costs: end -->')
  expect(cells(tables).trim()).toBe(cells(costTables()).trim())
}, 120_000)
