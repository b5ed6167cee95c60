import { readFileSync } from 'node:fs'

const document = readFileSync(new URL('../../../../docs/block-body.md', import.meta.url), 'utf8')

/** A value of the test vector in docs/block-body.md: the hex behind its name, over all its lines. */
export function vector(name: string): Uint8Array {
  const blocks = [...document.matchAll(/```vector\n(.*?)```/gs)].map(([, text = '']) => text).join('')
  const [, hex] = new RegExp(`^${name}\\s+((?:[0-9a-f]+\\s)+)`, 'm').exec(blocks) ?? []
  if (hex === undefined) throw new Error(`docs/block-body.md has no ${name}`)
  return new Uint8Array(Buffer.from(hex.replace(/\s/g, ''), 'hex'))
}

/** The entries of the transactions map of a test vector: key and value in hex. */
export function vectorMap(name: 'map' | 'bridged-map' = 'map'): [key: string, value: string][] {
  const [, text = ''] = new RegExp(`\`\`\`${name}\\n(.*?)\`\`\``, 's').exec(document) ?? []
  const entries = [...text.matchAll(/^([0-9a-f]+)\n((?: {2}[0-9a-f]+\n)+)/gm)]
  return entries.map(([, key = '', value = '']) => [key, value.replace(/\s/g, '')])
}
