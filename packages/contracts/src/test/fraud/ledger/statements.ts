import { transactionKey } from '@ratatosk/block'
import { concatBytes } from '@ratatosk/cbor'
import {
  type LedgerFraudProof,
  openOutput,
  openRecord,
  openTransaction,
  openUnspent,
  type Resolution,
} from '@ratatosk/fraud'
import { blake2b256, type OutputReference } from '@ratatosk/ledger'
import { coin2, first, honestBlock, keyOf, outputOf, second, type TestBlock, third } from '../blocks.js'

export const made = outputOf(first, 0)

export const unspent = outputOf(first, 1)

export const beyond = outputOf(first, 7)

export const inputSpentElsewhere =
  (position: number, index: number, key: OutputReference) => (block: TestBlock) =>
    ({
      fraud: 'inputSpentElsewhere',
      transaction: openTransaction(block, position),
      index,
      output: openOutput(block, keyOf(key)),
    }) as const

/** @param spender its position, `absent` for one that is not there, `left` for none */
export const spentWithoutInput =
  (key: OutputReference, spender: number | 'absent' | 'left') => (block: TestBlock) =>
    ({
      fraud: 'spentWithoutInput',
      key: keyOf(key),
      output: openOutput(block, keyOf(key)),
      spender: spenderOf(block, keyOf(key), spender),
    }) as const

function spenderOf(block: TestBlock, key: Uint8Array, spender: number | 'absent' | 'left') {
  if (spender === 'absent') return { absent: block.map.proveAbsence(transactionKey(8)) }
  if (spender === 'left') return { withdrawals: openUnspent(block.events.withdrawals, key) }
  return openTransaction(block, spender)
}

export const outputNotNoted = (position: number, index: number) => (block: TestBlock) =>
  ({
    fraud: 'outputNotNoted',
    transaction: openTransaction(block, position),
    index,
    output: openOutput(block, keyOf(outputOf([first, second, third][position]!, index))),
  }) as const

export const inventedOutput =
  (
    key: OutputReference,
    maker: (block: TestBlock) => Extract<LedgerFraudProof, { fraud: 'inventedOutput' }>['maker'],
  ) =>
  (block: TestBlock) =>
    ({
      fraud: 'inventedOutput',
      key: keyOf(key),
      output: openOutput(block, keyOf(key)),
      maker: maker(block),
    }) as const

export const strayFromBefore = (key: OutputReference) => (block: TestBlock) =>
  ({
    fraud: 'strayFromBefore',
    key: keyOf(key),
    output: openOutput(block, keyOf(key)),
    before: openUnspent(block.before, keyOf(key)),
    deposits: openUnspent(block.events.deposits, keyOf(key)),
  }) as const

export const spentBeforeMade = (key: OutputReference) => (block: TestBlock) =>
  ({ fraud: 'spentBeforeMade', key: keyOf(key), output: openOutput(block, keyOf(key)) }) as const

export const wrongOutputsAfter = (key: OutputReference) => (block: TestBlock) =>
  ({
    fraud: 'wrongOutputsAfter',
    path: blake2b256(keyOf(key)),
    output: openOutput(block, keyOf(key)),
    before: openUnspent(block.before, keyOf(key)),
    after: openUnspent(block.after, keyOf(key)),
  }) as const

const hash = (key: OutputReference): Uint8Array =>
  honestBlock.before.valueHash(keyOf(key)) ?? honestBlock.valueOf(keyOf(key))!.subarray(16)

/** The outputs of the second transaction's input and two reference inputs. */
export const secondHashes = () => [made, unspent, coin2].map(hash)

export const wrongResolved =
  (index: number, key: OutputReference, hashes: Uint8Array) => (block: TestBlock) =>
    ({
      fraud: 'wrongResolved',
      transaction: openTransaction(block, 1),
      index,
      hashes,
      output: openOutput(block, keyOf(key)),
      before: openUnspent(block.before, keyOf(key)),
    }) as const

export const referenceInputMissing =
  (position: number, index: number, key: OutputReference) => (block: TestBlock) =>
    ({
      fraud: 'referenceInputMissing',
      transaction: openTransaction(block, position),
      index,
      output: openOutput(block, keyOf(key)),
      before: openUnspent(block.before, keyOf(key)),
    }) as const

export const gap = (position: number, later: number | bigint) => (block: TestBlock) =>
  ({
    fraud: 'gapInTransactions',
    position,
    absent: block.map.proveAbsence(transactionKey(position)),
    later: openRecord(block, later),
  }) as const

export const strangeEntry = (key: Uint8Array) => (block: TestBlock) =>
  ({ fraud: 'strangeEntry', key, value: block.valueOf(key)!, proof: block.map.prove(key) }) as const

export const wrongFees = (position: number) => (block: TestBlock) =>
  ({
    fraud: 'wrongFees',
    transaction: openTransaction(block, position),
    ...(position > 0 && { previous: openRecord(block, position - 1) }),
  }) as const

/** @param keys of some inputs and, behind them, reference inputs */
const resolution =
  (position: number, keys: readonly OutputReference[], { first = 0, isLast = true } = {}) =>
  (block: TestBlock): Resolution => ({
    transaction: openTransaction(block, position),
    first,
    outputs: keys.map((key) => ({
      output: openOutput(block, keyOf(key)),
      before: openUnspent(block.before, keyOf(key)),
    })),
    isLast,
  })

/** In two parts. @param keys of all inputs and reference inputs */
export const wrongResolvedHash =
  (position: number, keys: readonly OutputReference[] = []) =>
  (block: TestBlock) =>
    ({
      fraud: 'wrongResolvedHash',
      resolutions: [
        resolution(position, keys.slice(0, 1), { isLast: false })(block),
        resolution(position, keys.slice(1), { first: 1 })(block),
      ],
    }) as const

export const prove = {
  inputSpentElsewhere,
  spentWithoutInput,
  outputNotNoted,
  inventedOutput,
  strayFromBefore,
  spentBeforeMade,
  wrongOutputsAfter,
  wrongResolved,
  wrongResolvedHash,
  referenceInputMissing,
  gap,
  strangeEntry,
  wrongFees,
}

export const storyKeys = { made, unspent, beyond }

export const honestHashes = (): Uint8Array => concatBytes(...secondHashes())
