import { chunkKey, partsOf, transactionKey } from '@ratatosk/block'
import { concatBytes, toHex } from '@ratatosk/cbor'
import { blake2b256, type OutputReference } from '@ratatosk/ledger'
import {
  type ChunkFlawProof,
  type LedgerFraudProof,
  openChunk,
  openOutput,
  openRecord,
  openTransaction,
  openUnspent,
  type Resolution,
  type ShownChunk,
} from '@ratatosk/protocol/fraud'
import { chunksOf } from '../../../../../protocol/dist/fraud/test/lying-blocks.js'
import {
  coin2,
  eight,
  first,
  honestBlock,
  keyOf,
  outputOf,
  second,
  type TestBlock,
  third,
} from '../blocks.js'

export const ofFlaw = (flaw: ChunkFlawProof): LedgerFraudProof => ({ fraud: 'wrongChunk', flaw })

export function shown(block: TestBlock, number: number): ShownChunk {
  const chunk = openChunk(block, number)
  const hash = toHex(chunk.record.subarray(17))
  const known = [...block.chunks, ...chunksOf(block.transactions)]
  return { ...chunk, parts: [known.find((bytes) => toHex(blake2b256(bytes)) === hash)!] }
}

const absentChunk = (block: TestBlock, number: number) => block.map.proveAbsence(chunkKey(number))

type State = (block: TestBlock) => LedgerFraudProof

export const countsDiffer =
  (one: number, other: number): State =>
  (block) =>
    ofFlaw({ flaw: 'countsDiffer', chunk: openChunk(block, one), other: openChunk(block, other) })

export const misplaced =
  (number: number): State =>
  (block) =>
    ofFlaw({ flaw: 'misplaced', chunk: openChunk(block, number) })

/** @param holder a chunk that counts the missing one; without it, the record of the first transaction */
export const missing =
  (number: number, holder?: number): State =>
  (block) =>
    ofFlaw({
      flaw: 'missing',
      number,
      absent: absentChunk(block, number),
      holder: holder === undefined ? openRecord(block, 0) : openChunk(block, holder),
    })

export const nextElsewhere =
  (number: number, next = number + 1): State =>
  (block) =>
    ofFlaw({ flaw: 'nextElsewhere', chunk: shown(block, number), next: openChunk(block, next) })

export const transactionsLeft =
  (number: number, position: number): State =>
  (block) =>
    ofFlaw({ flaw: 'transactionsLeft', chunk: shown(block, number), record: openRecord(block, position) })

/** @param shownAbsent the position that is shown to be missing */
export const inventedTransaction =
  (number: number, position: number, shownAbsent = position): State =>
  (block) =>
    ofFlaw({
      flaw: 'inventedTransaction',
      chunk: shown(block, number),
      absent: { position, absent: block.map.proveAbsence(eight(BigInt(shownAbsent))) },
    })

export const otherTransaction =
  (number: number, position: number): State =>
  (block) =>
    ofFlaw({ flaw: 'otherTransaction', chunk: shown(block, number), record: openRecord(block, position) })

export const strangeRest =
  (number: number, place: number): State =>
  (block) =>
    ofFlaw({ flaw: 'strangeRest', chunk: shown(block, number), place })

export const malformed =
  (number: number): State =>
  (block) =>
    ofFlaw({ flaw: 'malformed', chunk: shown(block, number) })

export const tooShort =
  (number: number, position: number, rest?: Uint8Array): State =>
  (block) =>
    ofFlaw({
      flaw: 'tooShort',
      chunk: shown(block, number),
      next: openTransaction(block, position),
      rest: rest ?? partsOf(block.transactions[position]!).rest,
    })

export const wrongLength =
  (part: 'body' | 'witness set', position: number): State =>
  (block) => ({
    fraud: 'wrongLength',
    part:
      part === 'body'
        ? openTransaction(block, position)
        : {
            record: openRecord(block, position),
            witnessSet: partsOf(block.transactions[position]!).witnessSet,
          },
  })

export const tooLong =
  (position: number): State =>
  (block) => ({ fraud: 'tooLong', record: openRecord(block, position) })

/** Every flaw that can be stated of the chunks of a block from what it really commits to. */
export function* chunkProofsOf(block: TestBlock): Generator<LedgerFraudProof, void> {
  const { transactions } = block
  const chunks = chunksOf(transactions)
  const positions = transactions.map((_, position) => position)
  const numbers = chunks.map((_, number) => number)
  for (const position of positions) {
    yield tooLong(position)(block)
    for (const part of ['body', 'witness set'] as const) yield wrongLength(part, position)(block)
  }
  for (const number of numbers) {
    yield misplaced(number)(block)
    yield malformed(number)(block)
    for (const beyond of [0, 1, 2 ** 31]) yield missing(chunks.length + beyond, number)(block)
    if (transactions.length > 0) yield missing(chunks.length)(block)
    for (const other of numbers) {
      yield countsDiffer(number, other)(block)
      yield nextElsewhere(number, other)(block)
    }
    for (const beyond of [0, 1, 2 ** 40])
      yield inventedTransaction(number, transactions.length + beyond)(block)
    for (const position of positions) {
      yield transactionsLeft(number, position)(block)
      yield otherTransaction(number, position)(block)
      yield tooShort(number, position)(block)
    }
    for (const place of [-1, ...positions, transactions.length, 2 ** 40])
      yield strangeRest(number, place)(block)
  }
}

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

/** A block that breaks one rule, and the proof of it. The same proof of the honest block proves nothing. */
export interface LedgerLie {
  readonly what: string
  readonly block: TestBlock
  readonly prove: (block: TestBlock) => LedgerFraudProof
  /** Whether the honest block has what the proof opens. */
  readonly hasTwin: boolean
}
