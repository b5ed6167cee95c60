import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))

/** The table of docs/compatibility.md. @throws Error if results are missing, or of another version */
export function compatibilityTable() {
  const results = read('docs/compatibility.json')
  const names = readdirSync(join(root, 'examples')).filter((name) => /^(dapp|client)-/.test(name))
  const rows = names.flatMap((name) => {
    const { dependencies } = read(`examples/${name}/package.json`)
    const { versions = {}, runs = [] } = results[name] ?? {}
    const others = Object.entries(versions).filter(([sdk, version]) => dependencies[sdk] !== version)
    if (runs.length === 0 || others.length > 0)
      throw new Error(
        `docs/compatibility.json has no results of examples/${name} as it is now: run its scenarios with ` +
          'RATATOSK_SDKS=all RATATOSK_RECORD=1.',
      )
    const sdk = Object.entries(versions).map((each) => each.join(' '))
    return runs.map(({ provider, layers, steps, without, passed }) => {
      const done = `${steps.length - without.length} of ${steps.length}`
      const scenarios = [done, ...without.map((step) => `not \`${step}\``)].join(', ')
      const cells = [sdk.join(', '), provider, layers.join(', '), scenarios, passed ? 'passes' : '**fails**']
      return `| [${cells[0]}](../examples/${name}) | ${cells.slice(1).join(' | ')} |`
    })
  })
  return ['| SDK | provider | on | steps | result |', '| --- | --- | --- | --- | --- |', ...rows].join('\n')
}
