import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { vectorsFolder } from '@ratatosk/fixtures/vectors'
import { createMemoryStore, createTrie, proofFromCbor, proofToCbor, proofToJson } from '@ratatosk/trie'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ProofStep } from '../api.js'
import {
  blake2b,
  headerHashOf,
  InvalidProofError,
  rootOf,
  toHex,
  verifyTransactionProof,
  verifyUtxoProof,
} from './index.js'

/** Proofs; `RATATOSK_PROOFS=10000` is the long run. */
const runs = Number(process.env.RATATOSK_PROOFS ?? 50)
const longRun = { timeout: 3_600_000 }

test('hashes as Node.js does, at every length around a block', () => {
  for (const length of [0, 1, 3, 127, 128, 129, 255, 256, 257, 1000]) {
    const input = Uint8Array.from({ length }, (_, i) => i * 7)
    expect(toHex(blake2b(input, 64))).toBe(createHash('blake2b512').update(input).digest('hex'))
  }
})

function outrefBytes(txHash: string, index: number): Uint8Array {
  const number = index < 24 ? [index] : index < 256 ? [24, index] : [25, index >> 8, index & 255]
  return Uint8Array.from([0x82, 0x58, 0x20, ...Buffer.from(txHash, 'hex'), ...number])
}

function hashOf(seed: number): string {
  return createHash('sha256')
    .update(Uint8Array.of(seed >> 8, seed))
    .digest('hex')
}

/** A header around two roots, as the state queue has it. */
function headerOf(utxosRoot: string, transactionsRoot: string): string {
  const nothing = `5820${'00'.repeat(32)}`
  const hashes = `581c${'00'.repeat(28)}581c${'11'.repeat(28)}`
  return `d8799f${nothing}5820${utxosRoot}5820${transactionsRoot}${nothing}${nothing}0001${hashes}02ff`
}

/** An answer of a node about an output reference in a map of a few hundred entries. */
function answer(entries: number, place: number, isThere: boolean) {
  const trie = createTrie({ store: createMemoryStore() })
  const key = (i: number) => outrefBytes(hashOf(i), i % 300)
  trie.update(
    Array.from({ length: entries }, (_, i) => ({ type: 'insert', key: key(i), value: Uint8Array.of(i, 9) })),
  )
  const asked = isThere ? place % entries : entries + place
  const proof = isThere ? trie.prove(key(asked)) : trie.proveAbsence(key(asked))
  const root = toHex(trie.root)
  const header = headerOf(root, '22'.repeat(32))
  return {
    outref: `${hashOf(asked)}#${asked % 300}`,
    headerHash: headerHashOf(header),
    root,
    given: {
      header,
      ...(isThere && { value: toHex(Uint8Array.of(asked, 9)) }),
      proof: { json: proofToJson(proof), cbor: toHex(proofToCbor(proof)) },
    },
  }
}

const questions = fc.tuple(fc.integer({ min: 1, max: 400 }), fc.nat(999), fc.boolean())

describe('outputs', () => {
  test('are there, or not, as the trie says', longRun, () => {
    fc.assert(
      fc.property(questions, ([entries, place, isThere]) => {
        const { given, outref, headerHash, root } = answer(entries, place, isThere)
        expect(verifyUtxoProof(given, { outref, headerHash })).toBe(given.value)
        expect(verifyUtxoProof(given, { outref: outref.toUpperCase(), root })).toBe(given.value)
        const [hash = '', index] = outref.split('#')
        const listed = toHex(outrefBytes(hash, Number(index)))
        expect(verifyUtxoProof(given, { outref: listed, root })).toBe(given.value)
      }),
      { numRuns: runs },
    )
  })

  test('are not believed after any change of a byte', longRun, () => {
    fc.assert(
      fc.property(
        questions,
        fc.nat(),
        fc.integer({ min: 1, max: 15 }),
        ([entries, place, isThere], at, change) => {
          const { given, outref, headerHash } = answer(entries, place, isThere)
          const text = JSON.stringify({
            header: given.header,
            value: given.value,
            proof: { json: given.proof.json },
          })
          // A hex digit of any field becomes another.
          const digits = [...text.matchAll(/"(?:[0-9a-f]{2})+"/g)].flatMap(({ index, 0: whole }) =>
            Array.from({ length: whole.length - 2 }, (_, i) => index + 1 + i),
          )
          const place2 = digits[at % digits.length] ?? 0
          const digit = (Number.parseInt(text.charAt(place2), 16) ^ change).toString(16)
          const changed = JSON.parse(text.slice(0, place2) + digit + text.slice(place2 + 1))
          expect(() => verifyUtxoProof(changed, { outref, headerHash })).toThrow(InvalidProofError)
        },
      ),
      { numRuns: runs },
    )
  })

  test.each([true, false])('are not believed after a change of any byte at all (presence: %s)', (isThere) => {
    const { given, outref, headerHash } = answer(40, 11, isThere)
    const { header, value, proof } = given
    const text = JSON.stringify({ header, value, proof: { json: proof.json } })
    let bytes = 0
    for (const { index, 0: whole } of text.matchAll(/"(?:[0-9a-f]{2})+"/g)) {
      for (let at = index + 1; at < index + whole.length - 1; at += 2) {
        const byte = Number.parseInt(text.slice(at, at + 2), 16) ^ (1 << (at % 8))
        const changed = text.slice(0, at) + byte.toString(16).padStart(2, '0') + text.slice(at + 2)
        const verify = () => verifyUtxoProof(JSON.parse(changed), { outref, headerHash })
        expect(verify, `byte at ${at}`).toThrow(InvalidProofError)
        bytes++
      }
    }
    expect(bytes).toBeGreaterThan(400)
  })

  test('are not believed of another block, another output, or without what is needed', () => {
    const { given, outref, headerHash } = answer(50, 7, true)
    const bad = (change: object, expected: object = {}) =>
      expect(() =>
        verifyUtxoProof({ ...given, ...change } as typeof given, { outref, headerHash, ...expected }),
      ).toThrow(InvalidProofError)
    bad({}, { headerHash: '00'.repeat(28) })
    bad({}, { outref: `${hashOf(8)}#8` })
    bad({ header: undefined })
    bad({ header: `${given.header}00` })
    bad({ value: undefined })
    bad({ value: 'ff' })
    bad({ value: 'no hex' })
    bad({ proof: { json: [] } })
    bad({ proof: { json: null } })
    bad({ proof: { json: [{ type: 'branch', skip: -1 }] } })
    bad({ proof: { json: [{ type: 'leaf', skip: 0 }] } })
    bad({ proof: { json: [{ type: 'other', skip: 0 }] } })
    const missing = undefined as unknown as string
    for (const wrong of [
      { outref: 'x', headerHash },
      { outref: missing, headerHash },
      { outref: `825820${hashOf(1)}`, headerHash },
      { outref, headerHash: 'x' },
      { outref, headerHash: missing },
      { outref, root: missing },
    ])
      expect(() => verifyUtxoProof(given, wrong)).toThrow(TypeError)
    for (const [expected, message] of [
      [{ txHash: missing, headerHash }, 'txHash must be 64 hex digits'],
      [{ txHash: hashOf(1), headerHash: missing }, 'headerHash must be 56 hex digits'],
    ] as const)
      expect(() => verifyTransactionProof({ proof: given.proof }, expected)).toThrow(new TypeError(message))
    const absent = null as never
    for (const [call, message] of [
      [() => verifyUtxoProof(absent, { outref, headerHash }), 'the proof, an answer of the node,'],
      [() => verifyUtxoProof(given, absent), 'the expected values'],
      [
        () => verifyTransactionProof(absent, { txHash: hashOf(1), headerHash }),
        'the proof, an answer of the node,',
      ],
    ] as const)
      expect(call).toThrow(new TypeError(`${message} must be an object`))
    expect(() => headerHashOf('no hex')).toThrow(TypeError)
  })
})

const folder = vectorsFolder('mpf')

interface Reference {
  readonly root: string
  readonly proofs: readonly {
    readonly kind: 'membership' | 'non-membership'
    readonly key: string
    readonly value?: string
    readonly proof: readonly ProofStep[]
  }[]
}
interface Published {
  readonly root: string
  readonly entries: readonly { readonly key: string; readonly value: string }[]
}

describe.skipIf(folder === undefined)('the vectors of the reference implementation', () => {
  const files: (Reference | Published)[] = readdirSync(folder ?? '.').map((name) =>
    JSON.parse(readFileSync(join(folder ?? '.', name), 'utf8')),
  )
  const rootOrNone = (...[key, value, proof]: Parameters<typeof rootOf>) => {
    try {
      return rootOf(key, value, proof)
    } catch {
      return undefined
    }
  }

  test('every proof leads to the root, and proves neither the opposite nor another value', () => {
    const runs = files.filter((file): file is Reference => 'proofs' in file)
    expect(runs.flatMap(({ proofs }) => proofs).length).toBeGreaterThan(0)
    for (const { root, proofs } of runs) {
      expect(new Set(proofs.map(({ kind }) => kind)).size).toBe(2)
      for (const { key, value, proof } of proofs) {
        expect(rootOf(key, value, proof)).toBe(root)
        expect(rootOrNone(key, value === undefined ? '00' : undefined, proof)).not.toBe(root)
        expect(rootOrNone(key, '01', proof)).not.toBe(root)
        expect(rootOrNone(`${key}00`, value, proof)).not.toBe(root)
      }
    }
  })

  test('every entry of a published map is in it', () => {
    const maps = files.filter((file): file is Published => !('proofs' in file))
    expect(maps).not.toEqual([])
    for (const { root, entries } of maps) {
      const all = entries.map(({ key, value }) => ({ key: Buffer.from(key), value: Buffer.from(value) }))
      const trie = createTrie({ store: createMemoryStore() })
      trie.update(all.map((entry) => ({ type: 'insert', ...entry })))
      for (const { key, value } of all) {
        expect(rootOf(toHex(key), toHex(value), proofToJson(trie.prove(key)))).toBe(root)
      }
    }
  })
})

test('refuses a neighbour that is beside another path, as the trie does', () => {
  // The leaf of the key itself, as its own neighbour, would "prove" that it is absent.
  const { given, outref, root } = answer(2, 0, true)
  const [step] = proofFromCbor(Buffer.from(given.proof.cbor, 'hex'))
  const key = blake2b(outrefBytes(hashOf(0), 0), 32)
  const own = { key: toHex(key), value: toHex(blake2b(Uint8Array.of(0, 9), 32)) }
  const proof = { json: [{ type: 'leaf' as const, skip: step?.skip ?? 0, neighbor: own }] }
  expect(() => verifyUtxoProof({ proof }, { outref, root })).toThrow(InvalidProofError)
})

describe('transactions', () => {
  const applied = hashOf(1)
  const record = `02${applied}${'33'.repeat(80)}`
  const trie = createTrie({ store: createMemoryStore() })
  const position = (i: number) => Uint8Array.of(0, 0, 0, 0, 0, 0, i >> 8, i)
  trie.update([
    ...Array.from({ length: 20 }, (_, i) => ({
      type: 'insert' as const,
      key: position(i + 250),
      value: Buffer.from(i === 6 ? record : `02${hashOf(i + 100)}${'33'.repeat(80)}`, 'hex'),
    })),
    { type: 'insert', key: outrefBytes(applied, 0), value: Uint8Array.of(2) },
  ])
  const header = headerOf('22'.repeat(32), toHex(trie.root))
  const headerHash = headerHashOf(header)
  const presence = {
    header,
    value: record,
    position: 256,
    proof: { json: proofToJson(trie.prove(position(256))) },
  }

  test('are applied at their position', () => {
    expect(verifyTransactionProof(presence, { txHash: applied, headerHash })).toEqual({
      isApplied: true,
      position: 256,
    })
  })

  test('are absent if their first output is', () => {
    const missing = hashOf(2)
    const absence = { header, proof: { json: proofToJson(trie.proveAbsence(outrefBytes(missing, 0))) } }
    expect(verifyTransactionProof(absence, { txHash: missing, headerHash })).toEqual({ isApplied: false })
    expect(() => verifyTransactionProof(absence, { txHash: applied, headerHash })).toThrow(InvalidProofError)
  })

  test('are not believed at another position, or of another hash', () => {
    const bad = (change: object, txHash = applied) =>
      expect(() => verifyTransactionProof({ ...presence, ...change }, { txHash, headerHash })).toThrow(
        InvalidProofError,
      )
    bad({ position: 255 })
    bad({ position: undefined })
    bad({ position: 0.5 })
    bad({}, hashOf(2))
    bad({ value: undefined })
    bad({ value: record.slice(2) })
    bad({ value: `01${record.slice(2)}` })
  })
})
