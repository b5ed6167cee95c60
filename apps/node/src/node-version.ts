import { readFileSync } from 'node:fs'

/** The remedy for a too old Node.js; undefined otherwise. Old versions can load this module. */
export function nodeVersionProblem(found: string): string | undefined {
  const manifest = new URL('../package.json', import.meta.url)
  const { engines }: { engines: { node: string } } = JSON.parse(readFileSync(manifest, 'utf8'))
  const oldest = engines.node.replace('>=', '')
  const [major = 0, minor = 0] = found.split('.').map(Number)
  const [leastMajor = 0, leastMinor = 0] = oldest.split('.').map(Number)
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return undefined
  const mend = 'install it from https://nodejs.org.'
  return `Ratatosk needs Node.js ${oldest} or later, and this is ${found}: ${mend}`
}
