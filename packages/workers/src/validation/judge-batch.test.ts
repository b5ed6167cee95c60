import { outputReferenceKey } from '@ratatosk/ledger'
import { expect, test } from 'vitest'
import type { SignedTransaction } from '../test/midgard.js'
import { freeOfCharge } from '../test/parameters.js'
import { chain, fundsOf, keyOf, outputsOf, signed } from '../test/transfers.js'
import { BatchView } from './batch-view.js'
import { judgeBatch } from './judge-batch.js'
import { type Candidate, examine, isCandidate } from './submission.js'

const context = { parameters: freeOfCharge, networkId: 0, slot: 100n }
const key = keyOf(1)
const ada = 1_000_000n
const funds = fundsOf(key, 3, 10n * ada)
const stored = new Map(funds.map(({ reference, output }) => [outputReferenceKey(reference), output]))
const [first, second] = funds.map(({ reference }) => reference)

function candidate({ cbor }: SignedTransaction, id = 'submission'): Candidate {
  const examined = examine({ id, cbor, attempt: 1, submittedAt: new Date(0) }, context)
  if (!isCandidate(examined)) throw new Error('not a transaction')
  return examined
}

function judge(transactions: readonly SignedTransaction[], known: readonly SignedTransaction[] = []) {
  const candidates = transactions.map((transaction) => candidate(transaction))
  const batch = judgeBatch(candidates, new Set(known.map(({ id }) => id)), new BatchView(stored), context)
  return {
    kinds: candidates.map((each) => batch.judgements.get(each)?.kind),
    predicates: candidates.map((each) => {
      const judgement = batch.judgements.get(each)
      return judgement !== undefined && 'failures' in judgement
        ? judgement.failures.map(({ predicate }) => predicate)
        : []
    }),
    accepted: batch.accepted.map(({ key: id }) => id),
  }
}

test('a chain within the batch is accepted, whatever its order', () => {
  const links = chain(key, first!, 10n * ada, 5)
  const ids = links.map(({ id }) => id)
  expect(judge(links).accepted).toEqual(ids)
  expect(judge([...links].reverse()).accepted).toEqual(ids)
  expect(judge([3, 0, 4, 2, 1].map((n) => links[n]!)).accepted).toEqual(ids)
})

test('of two that spend the same, the one that came first is accepted, and the other may be tried again', () => {
  const one = signed(key, { inputs: [first!], outputs: [10n * ada] })
  const other = signed(key, { inputs: [first!], outputs: [4n * ada, 6n * ada] })
  expect(judge([one, other])).toMatchObject({
    kinds: ['accepted', 'unready'],
    predicates: [[], ['BadInputsUTxO']],
    accepted: [one.id],
  })
  expect(judge([other, one]).accepted).toEqual([other.id])
})

test('one that waits for an output comes before later ones once it is there', () => {
  const maker = signed(key, { inputs: [first!], outputs: [10n * ada] })
  const waiting = signed(key, { inputs: [outputsOf(maker), second!], outputs: [20n * ada] })
  const rival = signed(key, { inputs: [second!], outputs: [10n * ada] })
  expect(judge([waiting, maker, rival]).accepted).toEqual([maker.id, waiting.id])
})

test('one that waits for two outputs is judged when the second comes', () => {
  const makers = [first!, second!].map((input) => signed(key, { inputs: [input], outputs: [10n * ada] }))
  const waiting = signed(key, { inputs: makers.map((maker) => outputsOf(maker)), outputs: [20n * ada] })
  expect(judge([waiting, ...makers]).accepted).toEqual([...makers.map(({ id }) => id), waiting.id])
})

test('the same transaction twice is applied once', () => {
  const transaction = signed(key, { inputs: [first!], outputs: [10n * ada] })
  expect(judge([transaction, transaction])).toMatchObject({
    kinds: ['accepted', 'known'],
    accepted: [transaction.id],
  })
})

test('what was accepted before is known, and stays spent', () => {
  const transaction = signed(key, { inputs: [{ ...first!, index: 7 }], outputs: [10n * ada] })
  expect(judge([transaction], [transaction])).toMatchObject({ kinds: ['known'], accepted: [] })
})

test('a flaw that time cannot mend is final, even where an input is unknown', () => {
  const unknown = { ...first!, index: 7 }
  const unsigned = signed({ ...key, sign: () => Buffer.alloc(64) }, { inputs: [unknown], outputs: [ada] })
  expect(judge([unsigned])).toMatchObject({ kinds: ['rejected'], predicates: [['InvalidWitnessesUTXOW']] })
  const wasteful = signed(key, { inputs: [first!], outputs: [11n * ada] })
  expect(judge([wasteful])).toMatchObject({ kinds: ['rejected'], predicates: [['ValueNotConservedUTxO']] })
})

test('an interval that has not begun may be tried again; one that is over may not', () => {
  const inputs = [first!]
  const outputs = [10n * ada]
  expect(judge([signed(key, { inputs, outputs, invalidBefore: 101n })]).kinds).toEqual(['unready'])
  expect(judge([signed(key, { inputs, outputs, invalidHereafter: 100n })]).kinds).toEqual(['rejected'])
  expect(
    judge([signed(key, { inputs, outputs, invalidBefore: 100n, invalidHereafter: 101n })]).kinds,
  ).toEqual(['accepted'])
})
