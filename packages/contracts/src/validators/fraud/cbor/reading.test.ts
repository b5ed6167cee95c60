import { concatBytes } from '@ratatosk/cbor'
import { decodeTransactionBody, encodeOutputReference, type TransactionBody } from '@ratatosk/ledger'
import { constr, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cekWithin } from '../../../test/evaluate.js'
import { looseBodies } from '../../../test/fraud/loose-bodies.js'
import { mintingOf, scriptOf } from '../../../test/fraud/minting.js'
import { translatePolicy } from '../../../test/fraud/trial.js'
import { hasVectors, vectorBodies } from '../../../test/fraud/vectors.js'
import { traces } from '../../../test/uplc/builtins.js'
import { compileReadingCheck } from '../../blueprint.js'

/**
 * `RATATOSK_READINGS=100000` reads so many generated bodies and every body of the vectors; otherwise a few
 * hundred. The machine then reads one of twenty; the translated script reads all.
 */
const readings = Number(process.env.RATATOSK_READINGS ?? 0)
const everyByMachine = readings > 0 ? 20 : 1

const script = scriptOf(compileReadingCheck().program)

function readingOf({ inputs, referenceInputs, fee, outputs }: TransactionBody): Uint8Array {
  const amount = Buffer.alloc(8)
  amount.writeBigUInt64BE(fee)
  return concatBytes(
    ...[...inputs, ...referenceInputs].map(encodeOutputReference),
    amount,
    ...outputs.map(({ bytes }) => bytes),
  )
}

function decoded(body: Uint8Array): TransactionBody | undefined {
  try {
    return decodeTransactionBody(body)
  } catch {
    return undefined
  }
}

describe('the on-chain reader of transaction bodies', { timeout: 24 * 3_600_000 }, () => {
  const rule = translatePolicy(script)
  let asked = 0
  const evaluate = cekWithin({ memory: 10n ** 12n, steps: 10n ** 15n })

  /** Whether the script reads a body as given: `misread` if otherwise, `refused` if it does not read it. */
  async function read(body: Uint8Array, reading: Uint8Array): Promise<'read' | 'misread' | 'refused'> {
    const redeemer = constr(0, body, reading)
    traces.last = undefined
    const ruling = rule(redeemer, new Uint8Array())
    const translated = ruling === 'accepted' ? 'read' : traces.last === 'misread' ? 'misread' : 'refused'
    if (ruling !== 'deep' && asked++ % everyByMachine > 0) return translated
    const evaluated = evaluate(mintingOf({ script, redeemer: encodePlutusData(redeemer) }))
    const outcome = evaluated.ok ? 'read' : evaluated.lastTrace === 'misread' ? 'misread' : 'refused'
    if (ruling !== 'deep') expect(translated).toBe(outcome)
    return outcome
  }

  async function outcomeOf(body: Uint8Array) {
    const model = decoded(body)
    return model === undefined ? 'not decoded' : read(body, readingOf(model))
  }

  it.skipIf(!hasVectors)('reads the bodies of the vectors as the decoder does', async () => {
    const counts = { read: 0, misread: 0, refused: 0, 'not decoded': 0 }
    let place = 0
    for (const body of vectorBodies()) {
      if (readings > 0 || place++ % 20 === 0) counts[await outcomeOf(body)]++
    }
    expect(counts).toMatchObject({ misread: 0, refused: 0 })
    expect(counts.read).toBeGreaterThan(150)
    process.stdout.write(`bodies of the vectors: ${JSON.stringify(counts)}\n`)
  })

  it('reads every body in shortest heads as the decoder does', async () => {
    let read = 0
    await fc.assert(
      fc.asyncProperty(looseBodies(false), async (body) => {
        const outcome = await outcomeOf(body)
        expect(['read', 'not decoded']).toContain(outcome)
        if (outcome === 'read') read++
      }),
      { numRuns: readings || 150 },
    )
    expect(read).toBeGreaterThan((readings || 150) / 2)
  })

  it('reads bodies in longer heads as the decoder does, or refuses them', async () => {
    const outcomes = new Set<string>()
    await fc.assert(
      fc.asyncProperty(looseBodies(true), async (body) => {
        const outcome = await outcomeOf(body)
        expect(outcome).not.toBe('misread')
        outcomes.add(outcome)
      }),
      { numRuns: readings || 150 },
    )
    expect(outcomes).toContain('read')
    expect(outcomes).toContain('refused')
  })

  it('distinguishes another reading from the right one', async () => {
    const [body] = fc.sample(looseBodies(false), { numRuns: 1, seed: 1 })
    const reading = readingOf(decodeTransactionBody(body!))
    expect(await read(body!, reading)).toBe('read')
    for (let i = 0; i < reading.length; i += 7) {
      const other = reading.with(i, reading[i]! ^ 1)
      expect(await read(body!, other)).toBe('misread')
    }
    expect(await read(body!, reading.subarray(1))).toBe('misread')
  })
})
