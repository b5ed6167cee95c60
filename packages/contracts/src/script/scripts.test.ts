import { readFileSync } from 'node:fs'
import { CborReader, CborWriter, scriptHash } from '@ratatosk/ledger'
import { describe, expect, it } from 'vitest'
import { blueprint } from '../validators/blueprint.js'
import { compileStateQueue } from '../validators/compile.js'
import { operatorRegistryScript, scriptAddress, stateQueueScript } from './scripts.js'

const hash = new Uint8Array(28).fill(1)
const queue = {
  protocol: 'RATATOSK',
  administrator: hash,
  maturityWindow: 30_000n,
  registryPolicy: hash,
  turnLength: 60_000n,
}
const registry = {
  protocol: 'RATATOSK',
  administrator: hash,
  bond: 1n,
  releaseDelay: 90_000n,
  maxOperators: 10n,
}

describe('the blueprint', () => {
  it('is what the validators compile to now', () => {
    const checkedIn = JSON.parse(readFileSync(new URL('../../plutus.json', import.meta.url), 'utf8'))
    expect(checkedIn).toEqual(JSON.parse(JSON.stringify(blueprint())))
  })

  it('has the version of the package', () => {
    const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'))
    expect(read('plutus.json').preamble.version).toBe(read('package.json').version)
  })

  it('resolves every reference', () => {
    const text = readFileSync(new URL('../../plutus.json', import.meta.url), 'utf8')
    const { definitions } = JSON.parse(text)
    for (const [, name] of text.matchAll(/"#\/definitions\/(\w+)"/g)) {
      expect(definitions).toHaveProperty(name as string)
    }
  })
})

describe('scripts', () => {
  it('are a CBOR byte string around the applied program, and hashed so', () => {
    const script = stateQueueScript(queue)
    const reader = new CborReader(script.bytes)
    expect(reader.readBytes().length).toBeGreaterThan(compileStateQueue().program.length)
    reader.assertEnd()
    expect(script.hash).toEqual(scriptHash('PlutusV3', script.bytes))
    expect(new CborWriter().bytes(script.bytes).toBytes().length).toBe(script.bytes.length + 3)
  })

  it('differ by every parameter', () => {
    const other = new Uint8Array(28).fill(2)
    const hashes = [
      stateQueueScript(queue),
      stateQueueScript({ ...queue, protocol: 'OTHER' }),
      stateQueueScript({ ...queue, administrator: other }),
      stateQueueScript({ ...queue, maturityWindow: 1n }),
      stateQueueScript({ ...queue, registryPolicy: other }),
      stateQueueScript({ ...queue, turnLength: 1n }),
      operatorRegistryScript(registry),
      operatorRegistryScript({ ...registry, protocol: 'OTHER' }),
      operatorRegistryScript({ ...registry, administrator: other }),
      operatorRegistryScript({ ...registry, bond: 2n }),
      operatorRegistryScript({ ...registry, releaseDelay: 1n }),
      operatorRegistryScript({ ...registry, maxOperators: 11n }),
    ].map(({ hash }) => Buffer.from(hash).toString('hex'))
    expect(new Set(hashes).size).toBe(hashes.length)
  })

  it.each([
    { protocol: '' },
    { protocol: 'A'.repeat(17) },
    { protocol: 'ä' },
    { protocol: 'MBLC_PROTOCOL_16' },
    { administrator: new Uint8Array(27) },
    { registryPolicy: new Uint8Array(29) },
    { maturityWindow: -1n },
    { turnLength: 0n },
  ])('refuse %o for a queue', (wrong) => {
    expect(() => stateQueueScript({ ...queue, ...wrong })).toThrow(
      expect.objectContaining({ code: 'invalid-parameter' }),
    )
  })

  it.each([{ bond: -1n }, { releaseDelay: -1n }, { maxOperators: 0n }, { maxOperators: 101n }])(
    'refuse %o for a registry',
    (wrong) => {
      expect(() => operatorRegistryScript({ ...registry, ...wrong })).toThrow(
        expect.objectContaining({ code: 'invalid-parameter' }),
      )
    },
  )

  it('have addresses without a staking part', () => {
    expect(scriptAddress(hash, 0)).toEqual(Uint8Array.of(0x70, ...hash))
    expect(scriptAddress(hash, 1)).toEqual(Uint8Array.of(0x71, ...hash))
  })
})
