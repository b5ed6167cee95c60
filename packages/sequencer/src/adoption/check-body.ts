import {
  type BlockBody,
  BlockError,
  decodeHeader,
  isBlockError,
  isInvalidBlock,
  judgeBlock,
  type KnownAt,
} from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { verifyReadings } from '@ratatosk/follower'
import {
  decodeOutputReference,
  isScriptsNotRunError,
  type OutputReference,
  outputReferenceKey,
  type UtxoView,
} from '@ratatosk/ledger'
import { isEvaluatorError } from '@ratatosk/ledger/plutus'
import type { ForeignBlock } from '@ratatosk/store'
import { type RootsContext, realignRoots } from '../blocks/ledger-state.js'
import { invalidBlock, type SequencerError, unjudgedBlock } from '../errors.js'
import type { BlockRoots } from '../roots/index.js'
import type { AdoptionMeans } from '../types.js'
import type { ForeignHeader } from './fetch.js'
import { readOutputsBefore, tryExamine } from './outputs-before.js'
import { type BlockApart, takeApart, takeApartAgain } from './taken-apart.js'

/** Bytes of transactions taken apart before the roots are known: a block of 10,000 transfers has fewer. */
const takenApartAhead = 4 * 1024 * 1024

/** The result of judging a body that belongs to its header. */
type CheckedBody =
  /** Why the block is not known to be valid: it breaks a rule, or its scripts cannot be run now. */
  | { readonly fault: SequencerError }
  /** It is valid, and the output trie is after it. */
  | ({ readonly fault?: undefined } & Pick<ForeignBlock, 'transactions' | 'held'>)

/**
 * Whether a body belongs to a header, and whether that block is valid. Of transactions in the mempool, only
 * what may have changed since their acceptance is judged.
 * @throws {BlockError} when it belongs to another header
 */
export async function checkBody(
  context: RootsContext,
  { rules }: Pick<AdoptionMeans, 'rules'>,
  { headerHash, header: encoded }: ForeignHeader,
  body: BlockBody,
): Promise<CheckedBody> {
  const { store } = context
  const { transactions } = body
  const hash = toHex(headerHash)
  const header = decodeHeader(encoded)
  const invalid = (message: string): CheckedBody => ({ fault: invalidBlock(hash, message) })
  const judge = (before: UtxoView, known?: KnownAt) =>
    faultOf(judgeBlock(transactions, header, before, rules, known), hash)

  /** @throws {BlockError} when the trie finds that the transactions are those of another header */
  function belongs(roots: BlockRoots | undefined): roots is BlockRoots {
    if (roots === undefined || equalBytes(roots.transactionsRoot, header.transactionsRoot))
      return roots !== undefined
    throw new BlockError(
      'BLOCK_BODY_MISMATCH',
      'The transactions do not have the transactions_root of the header',
    )
  }

  /** Undefined if the trie refuses the block. */
  async function checkOnTrie(): Promise<CheckedBody | undefined> {
    const applying = applied(context, transactions)
    // It may not be awaited.
    applying.catch(() => undefined)
    const bytes = transactions.reduce((sum, { length }) => sum + length, 0)
    // A stranger could have sent a larger one: what it is taken apart into takes many times its bytes.
    const isLarge = bytes > takenApartAhead
    if (isLarge && !belongs(await applying)) return undefined
    const apart = await (isLarge ? takeApartAgain(transactions) : takeApart(transactions))
    if (apart === undefined) return undefined
    const held = await store.blocks.inMempool(apart.identified)
    const known = (place: number) => (held.has(place) ? apart.at(place) : undefined)
    const before = await readOutputsBefore(store, namedBy(apart, held))
    const roots = await applying
    // Only then: the body that a lying peer sends could take long to judge.
    if (!belongs(roots)) return undefined
    const fault = await judge(before.utxos, known)
    if (fault !== undefined) return { fault }
    if (!equalBytes(roots.utxosRoot, header.utxosRoot))
      return invalid('its transactions do not lead to its utxos_root.')
    return { transactions: await apart.all(), held }
  }

  const checked = await checkOnTrie()
  if (checked !== undefined) return checked
  await realignRoots(context)
  const { error } = await verifyReadings(body, header, async (derivation) => {
    const older = mapped(derivation.older(), decodeOutputReference)
    return (await readOutputsBefore(store, older)).hashOf
  })
  if (error !== undefined) return invalid(error.message)
  const before = await readOutputsBefore(store, namedIn(transactions))
  const fault = await judge(before.utxos)
  if (fault !== undefined) return { fault }
  throw new Error(`The outputs of this ledger do not allow block ${hash}, which is valid`)
}

/** The outputs that transactions name. At `known` positions, only those that they read are asked for. */
function* namedBy(
  { identified, at }: BlockApart,
  known: ReadonlyMap<number, bigint>,
): Generator<OutputReference, void> {
  for (const place of identified.keys()) {
    const { spent, named } = at(place)
    const left = new Set(known.has(place) ? spent.map(outputReferenceKey) : [])
    for (const reference of named)
      if (left.size === 0 || !left.has(outputReferenceKey(reference))) yield reference
  }
}

/** The outputs that transactions name which decode. */
function* namedIn(transactions: readonly Uint8Array[]): Generator<OutputReference, void> {
  for (const cbor of transactions) yield* tryExamine(cbor)?.named ?? []
}

function* mapped<From, To>(items: Iterable<From>, to: (item: From) => To): Generator<To, void> {
  for (const item of items) yield to(item)
}

/** The roots of a block that the trie has applied; undefined if it cannot. */
async function applied(
  { roots, step }: RootsContext,
  transactions: readonly Uint8Array[],
): Promise<BlockRoots | undefined> {
  try {
    const found = await roots.apply(transactions)
    step('roots-applied')
    return found
  } catch (error) {
    if (!isBlockError(error)) throw error
    return undefined
  }
}

/** The fault that judging has found; undefined if there is none. */
async function faultOf(judging: Promise<void>, hash: string): Promise<SequencerError | undefined> {
  try {
    await judging
    return undefined
  } catch (failure) {
    if (isInvalidBlock(failure)) return invalidBlock(hash, failure.message)
    if (isScriptsNotRunError(failure) || isEvaluatorError(failure))
      return unjudgedBlock(hash, failure.message)
    throw failure
  }
}
