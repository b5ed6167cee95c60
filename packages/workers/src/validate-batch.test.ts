import { decodeTransactionOutput, outputReferenceKey } from '@ratatosk/ledger'
import {
  chain,
  freeOfCharge,
  fundsOf,
  keyOf,
  outputsOf,
  type SignedTransaction,
  signed,
} from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { BatchView } from './batch-view.js'
import { type Candidate, digestOf, examine, isCandidate } from './examine.js'
import { minting, withCostModel } from './test/minting.js'
import { validateBatch } from './validate-batch.js'

const context = { parameters: freeOfCharge, networkId: 0, slot: 100n }
const key = keyOf(1)
const ada = 1_000_000n
const funds = fundsOf(key, 3, 10n * ada)
const stored = new Map(funds.map(({ reference, output }) => [outputReferenceKey(reference), output]))
const [first, second] = funds.map(({ reference }) => reference)

function candidate({ cbor }: SignedTransaction): Candidate {
  const examined = examine(cbor, context)
  if (!isCandidate(examined)) throw new Error('not a transaction')
  return examined
}

const tooMany = () => undefined

function validate(transactions: readonly SignedTransaction[], known: readonly SignedTransaction[] = []) {
  const candidates = transactions.map((transaction) => candidate(transaction))
  const batch = validateBatch(
    candidates,
    new Set(known.map(({ id }) => id)),
    new BatchView(stored),
    context,
    tooMany,
  )
  return {
    kinds: candidates.map((each) => batch.decisions.get(each)?.kind),
    predicates: candidates.map((each) => {
      const decision = batch.decisions.get(each)
      return decision !== undefined && 'failures' in decision
        ? decision.failures.map(({ predicate }) => predicate)
        : []
    }),
    accepted: batch.accepted.map(({ key: id }) => id),
    spentBy: candidates.map((each) => {
      const decision = batch.decisions.get(each)
      return decision?.kind === 'rejected' ? decision.spentBy : undefined
    }),
  }
}

test('accepts a chain in any order within a batch', () => {
  const links = chain(key, first!, 10n * ada, 5)
  const ids = links.map(({ id }) => id)
  expect(validate(links).accepted).toEqual(ids)
  expect(validate([...links].reverse()).accepted).toEqual(ids)
  expect(validate([3, 0, 4, 2, 1].map((n) => links[n]!)).accepted).toEqual(ids)
})

test('accepts the first of two transactions that spend the same output; the other names it', () => {
  const one = signed(key, { inputs: [first!], outputs: [10n * ada] })
  const other = signed(key, { inputs: [first!], outputs: [4n * ada, 6n * ada] })
  expect(validate([one, other])).toMatchObject({
    kinds: ['accepted', 'rejected'],
    predicates: [[], ['BadInputsUTxO']],
    accepted: [one.id],
    spentBy: [undefined, one.id],
  })
  expect(validate([other, one]).accepted).toEqual([other.id])
})

test('validates a waiting transaction before later ones as soon as its output is there', () => {
  const maker = signed(key, { inputs: [first!], outputs: [10n * ada] })
  const waiting = signed(key, { inputs: [outputsOf(maker), second!], outputs: [20n * ada] })
  const rival = signed(key, { inputs: [second!], outputs: [10n * ada] })
  expect(validate([waiting, maker, rival]).accepted).toEqual([maker.id, waiting.id])
})

test('validates a transaction that waits for two outputs when the second is there', () => {
  const makers = [first!, second!].map((input) => signed(key, { inputs: [input], outputs: [10n * ada] }))
  const waiting = signed(key, { inputs: makers.map((maker) => outputsOf(maker)), outputs: [20n * ada] })
  expect(validate([waiting, ...makers]).accepted).toEqual([...makers.map(({ id }) => id), waiting.id])
})

test('applies the same transaction once', () => {
  const transaction = signed(key, { inputs: [first!], outputs: [10n * ada] })
  expect(validate([transaction, transaction])).toMatchObject({
    kinds: ['accepted', 'known'],
    accepted: [transaction.id],
  })
})

test('a transaction that is in the ledger is known, and its inputs stay spent', () => {
  const transaction = signed(key, { inputs: [{ ...first!, index: 7 }], outputs: [10n * ada] })
  expect(validate([transaction], [transaction])).toMatchObject({ kinds: ['known'], accepted: [] })
})

test('rejects a permanent failure even if an input is unknown', () => {
  const unknown = { ...first!, index: 7 }
  const unsigned = signed({ ...key, sign: () => Buffer.alloc(64) }, { inputs: [unknown], outputs: [ada] })
  expect(validate([unsigned])).toMatchObject({
    kinds: ['rejected'],
    predicates: [['InvalidWitnessesUTXOW', 'BadInputsUTxO']],
  })
  const wasteful = signed(key, { inputs: [first!], outputs: [11n * ada] })
  expect(validate([wasteful])).toMatchObject({ kinds: ['rejected'], predicates: [['ValueNotConservedUTxO']] })
})

test('a validity interval in the future is retriable, one in the past is not', () => {
  const inputs = [first!]
  const outputs = [10n * ada]
  expect(validate([signed(key, { inputs, outputs, invalidBefore: 101n })]).kinds).toEqual(['retriable'])
  expect(validate([signed(key, { inputs, outputs, invalidHereafter: 100n })]).kinds).toEqual(['rejected'])
  expect(
    validate([signed(key, { inputs, outputs, invalidBefore: 100n, invalidHereafter: 101n })]).kinds,
  ).toEqual(['accepted'])
})

const cosigners = [11, 12, 13].map(keyOf)

test('more than three signatures are verified after everything else that can be validated', () => {
  const inputs = [first!]
  const valid = signed(key, { inputs, outputs: [10n * ada], cosigners })
  const batch = validateBatch([candidate(valid)], new Set(), new BatchView(stored), context, tooMany)
  expect([...batch.decisions.values()]).toMatchObject([{ kind: 'parked', verify: true, blockedBy: [] }])
  expect(
    validate([signed(key, { inputs, outputs: [10n * ada], cosigners: cosigners.slice(1) })]).kinds,
  ).toEqual(['accepted'])
  const forger = { ...key, sign: () => Buffer.alloc(64) }
  const refused = (transfer: Parameters<typeof signed>[1]) => validate([signed(forger, transfer)]).predicates
  expect(refused({ inputs, outputs: [11n * ada], cosigners })).toEqual([['ValueNotConservedUTxO']])
  expect(refused({ inputs: [{ ...first!, index: 7 }], outputs: [ada], cosigners })).toEqual([
    ['BadInputsUTxO'],
  ])
})

test('a transaction whose signatures are not verified takes no output from another one', () => {
  const unverified = signed(key, { inputs: [first!], outputs: [10n * ada], cosigners })
  const rival = signed(key, { inputs: [first!], outputs: [4n * ada, 6n * ada] })
  const child = signed(key, { inputs: [outputsOf(unverified)], outputs: [10n * ada] })
  const { kinds, accepted } = validate([unverified, child, rival])
  expect(kinds).toEqual(['parked', 'parked', 'accepted'])
  expect(accepted).toEqual([rival.id])
})

test('an outcome of scripts counts only for the outputs that they saw', () => {
  const parameters = withCostModel(freeOfCharge)
  const spending = { input: first!, lovelace: 10n * ada, tokens: 0, collateral: second! }
  const minted = examine(minting(key, spending, parameters).cbor, { ...context, parameters })
  if (!isCandidate(minted)) throw new Error('not a transaction')
  const decide = (saw: string) => {
    const judged = { ...minted, scripts: { failures: [], ran: true, saw } }
    const view = new BatchView(stored)
    return validateBatch([judged], new Set(), view, { ...context, parameters }, () => []).decisions.get(
      judged,
    )
  }
  const outputs = new Map(
    minted.named.map(({ key: name }) => [name, decodeTransactionOutput(stored.get(name)!)]),
  )
  expect(decide(digestOf(outputs))).toEqual({ kind: 'accepted' })
  const [other] = [...outputs.values()]
  expect(decide(digestOf(new Map([['other', other!]])))).toMatchObject({ kind: 'parked', evaluate: outputs })
})
