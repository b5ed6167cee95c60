import { CborWriter, toHex } from '@ratatosk/cbor'
import {
  type Draft,
  encodeDraft,
  encodeInput,
  encodeOutput,
  encodeSet,
  encodeUint,
  withFields,
} from '@ratatosk/fixtures'
import { describe, expect, it } from 'vitest'
import { bootstrapRoot, crc32, decodeAddress } from '../address/address.js'
import {
  alice,
  bob,
  context,
  nativeBytes,
  nativeHash,
  oneAda,
  parameters,
  pay,
  plutusHash,
  sampleFee,
  sampleId,
  spend,
  toBob,
  transfer,
  utxos,
} from '../test/sample-ledger.js'
import { decodeTransaction, decodeTransactionOutput } from '../transaction/decode.js'
import { outputReferenceKey } from '../transaction/output-reference.js'
import { resolve } from './context.js'
import { scriptUse } from './script-use.js'
import { validatePhaseOne } from './validate.js'

const names = (draft: Draft, outputs = utxos): string[] =>
  validatePhaseOne(decodeTransaction(encodeDraft(draft)), outputs, context).map(({ predicate }) => predicate)

const keyCredential = (hash: Uint8Array): Uint8Array =>
  new CborWriter().array(2).uint(0).bytes(hash).toBytes()
const scriptCredential = (hash: Uint8Array): Uint8Array =>
  new CborWriter().array(2).uint(1).bytes(hash).toBytes()
const certificate = (variant: number, credential: Uint8Array, deposit?: bigint): Uint8Array => {
  const writer = new CborWriter()
    .array(deposit === undefined ? 2 : 3)
    .uint(variant)
    .raw(credential)
  return (deposit === undefined ? writer : writer.uint(deposit)).toBytes()
}
const withdrawals = (
  ...entries: readonly (readonly [header: number, hash: Uint8Array, lovelace: bigint])[]
): Uint8Array => {
  const writer = new CborWriter().map(entries.length)
  for (const [header, hash, lovelace] of entries) writer.bytes(Uint8Array.of(header, ...hash)).uint(lovelace)
  return writer.toBytes()
}
const paying = (lovelace: bigint): { 1: Uint8Array } => ({
  1: pay(toBob(10n * oneAda - sampleFee + lovelace)),
})

describe('the balance of a transaction includes', () => {
  it.each<[string, Draft]>([
    [
      'a deposit',
      withFields(transfer, {
        ...paying(-3n * oneAda),
        4: encodeSet([certificate(7, keyCredential(alice.hash), 3n * oneAda)]),
      }),
    ],
    [
      'a refund',
      withFields(transfer, {
        ...paying(3n * oneAda),
        4: encodeSet([certificate(8, keyCredential(alice.hash), 3n * oneAda)]),
      }),
    ],
    [
      'the key deposit, if the certificate states none',
      withFields(transfer, {
        ...paying(-2n * oneAda),
        4: encodeSet([certificate(0, keyCredential(bob.hash))]),
      }),
    ],
    [
      'the refund of the key deposit',
      withFields(transfer, {
        ...paying(2n * oneAda),
        4: encodeSet([certificate(1, keyCredential(alice.hash))]),
      }),
    ],
    ['a withdrawal', withFields(transfer, { ...paying(5n), 5: withdrawals([0xe0, alice.hash, 5n]) })],
    ['a donation', withFields(transfer, { ...paying(-5n), 22: encodeUint(5) })],
  ])('%s', (_, draft) => {
    expect(names(draft)).toEqual([])
    expect(names(withFields(draft, { 1: pay(toBob(10n * oneAda - sampleFee)) }))).toEqual([
      'ValueNotConservedUTxO',
    ])
  })
})

describe('a witness is required', () => {
  it.each<[string, Draft, string]>([
    [
      'for a withdrawal by a key',
      withFields(transfer, { 5: withdrawals([0xe0, bob.hash, 0n]) }),
      'MissingVKeyWitnessesUTXOW',
    ],
    [
      'for a withdrawal by a script',
      withFields(transfer, { 5: withdrawals([0xf0, nativeHash, 0n]) }),
      'MissingScriptWitnessesUTXOW',
    ],
    [
      'for the deregistration of a key',
      withFields(transfer, {
        ...paying(2n * oneAda),
        4: encodeSet([certificate(1, keyCredential(bob.hash))]),
      }),
      'MissingVKeyWitnessesUTXOW',
    ],
    [
      'for the registration of a script with a deposit',
      withFields(transfer, {
        ...paying(-3n * oneAda),
        4: encodeSet([certificate(7, scriptCredential(nativeHash), 3n * oneAda)]),
      }),
      'MissingScriptWitnessesUTXOW',
    ],
  ])('%s', (_, draft, missing) => {
    expect(names(draft)).toEqual([missing])
  })

  it('and can be a native script', () => {
    const draft = withFields(
      transfer,
      { 5: withdrawals([0xf0, nativeHash, 0n]) },
      { 1: encodeSet([nativeBytes]) },
    )
    expect(names(draft)).toEqual([])
  })
})

describe('an output at a Byron address', () => {
  const chainCode = new Uint8Array(32).fill(5)
  const attributes = Uint8Array.of(0xa0)
  const root = bootstrapRoot({ publicKey: bob.publicKey, chainCode, attributes })
  const payload = new CborWriter().array(3).bytes(root).raw(attributes).uint(0).toBytes()
  const address = new CborWriter().array(2).tag(24).bytes(payload).uint(crc32(payload)).toBytes()
  const reference = { transactionId: sampleId, index: 50 }
  const outputs = new Map([
    ...utxos,
    [
      outputReferenceKey(reference),
      decodeTransactionOutput(encodeOutput({ address, lovelace: 10n * oneAda })),
    ],
  ])
  const draft: Draft = { ...withFields(transfer, { 0: encodeSet([encodeInput(sampleId, 50)]) }), signers: [] }
  const witness = (code = chainCode, sign = bob.sign): Draft => {
    const { id } = decodeTransaction(encodeDraft(draft))
    const bytes = new CborWriter().array(4).bytes(bob.publicKey).bytes(sign(id)).bytes(code).bytes(attributes)
    return withFields(draft, {}, { 2: encodeSet([bytes.toBytes()]) })
  }

  it('is spent with a bootstrap witness that has the root of the address', () => {
    expect(decodeAddress(address)).toMatchObject({ kind: 'byron', root })
    expect(names(witness(), outputs)).toEqual([])
  })

  it.each<[string, Draft, string]>([
    ['is not spent without a witness', draft, 'MissingVKeyWitnessesUTXOW'],
    ['is not spent with another root', witness(new Uint8Array(32)), 'MissingVKeyWitnessesUTXOW'],
    ['is not spent with a key witness', { ...draft, signers: [bob] }, 'MissingVKeyWitnessesUTXOW'],
    [
      'is not spent with a wrong signature',
      witness(chainCode, () => new Uint8Array(64)),
      'InvalidWitnessesUTXOW',
    ],
  ])('%s', (_, odd, predicate) => {
    expect(names(odd, outputs)).toEqual([predicate])
  })
})

describe('redeemer pointers follow the order of the ledger', () => {
  const needs = (draft: Draft): readonly (readonly [string, number, string])[] => {
    const transaction = decodeTransaction(encodeDraft(draft))
    return scriptUse(transaction, resolve(transaction, utxos)).needs.map(
      ({ purpose, index, scriptHash }) => [purpose, index, scriptHash] as const,
    )
  }
  const hash = (language: 1 | 2 | 3): string => toHex(plutusHash(language))

  it('sorts inputs', () => {
    expect(needs(withFields(transfer, { 0: spend(6, 0, 4) }))).toEqual([
      ['spend', 1, hash(1)],
      ['spend', 2, hash(3)],
    ])
  })

  it('sorts policies by hash', () => {
    const low = new Uint8Array(28).fill(1)
    const high = new Uint8Array(28).fill(2)
    const mint = new CborWriter().map(2).bytes(high).map(1).bytes(Uint8Array.of()).int(1)
    mint.bytes(low).map(1).bytes(Uint8Array.of()).int(1)
    expect(needs(withFields(transfer, { 9: mint.toBytes() }))).toEqual([
      ['mint', 0, toHex(low)],
      ['mint', 1, toHex(high)],
    ])
  })

  it('sorts script accounts before key accounts', () => {
    const high = new Uint8Array(28).fill(0xff)
    const draft = withFields(transfer, {
      5: withdrawals([0xe0, alice.hash, 0n], [0xf0, high, 0n], [0xf0, plutusHash(2), 0n]),
    })
    expect(needs(draft)).toEqual([
      ['reward', 0, hash(2)],
      ['reward', 1, toHex(high)],
    ])
  })

  it('keeps the submitted order of certificates', () => {
    const certificates = [
      certificate(1, keyCredential(alice.hash)),
      certificate(1, scriptCredential(plutusHash(3))),
      certificate(0, scriptCredential(plutusHash(2))),
    ]
    expect(needs(withFields(transfer, { 4: encodeSet(certificates) }))).toEqual([['cert', 1, hash(3)]])
  })

  it('sorts voters by role, then scripts before keys', () => {
    const votes = new CborWriter().map(3)
    const action = encodeInput(sampleId, 0)
    for (const [role, voter] of [
      [4, alice.hash],
      [3, plutusHash(3)],
      [1, plutusHash(2)],
    ] as const) {
      votes.array(2).uint(role).bytes(voter).map(1).raw(action).array(2).uint(1).null()
    }
    expect(needs(withFields(transfer, { 19: votes.toBytes() }))).toEqual([
      ['vote', 0, hash(2)],
      ['vote', 1, hash(3)],
    ])
  })
})

describe('the deposit of a pool', () => {
  it('is optional, because only the ledger state shows whether the pool is new', () => {
    const pool = new CborWriter()
      .array(10)
      .uint(3)
      .bytes(alice.hash)
      .bytes(new Uint8Array(32))
      .uint(0)
      .uint(0)
    pool
      .tag(30)
      .array(2)
      .uint(1)
      .uint(2)
      .bytes(Uint8Array.of(0xe0, ...alice.hash))
    pool
      .raw(encodeSet([new CborWriter().bytes(bob.hash).toBytes()]))
      .array(0)
      .null()
    const draft = { ...withFields(transfer, { 4: encodeSet([pool.toBytes()]) }), signers: [alice, bob] }
    expect(names(draft)).toEqual([])
    const rich = new Map([
      ...utxos,
      [
        outputReferenceKey({ transactionId: sampleId, index: 0 }),
        decodeTransactionOutput(encodeOutput(toBob(10n * oneAda + parameters.poolDeposit))),
      ],
    ])
    expect(names(draft, rich)).toEqual([])
    expect(names({ ...draft, signers: [alice] }, rich)).toEqual(['MissingVKeyWitnessesUTXOW'])
    expect(names(withFields(draft, paying(-1n)), rich)).toEqual(['ValueNotConservedUTxO'])
  })
})
