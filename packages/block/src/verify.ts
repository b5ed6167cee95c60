import { equalBytes } from '@ratatosk/cbor'
import { emptyRoot, rootOf } from '@ratatosk/trie'
import type { BlockBody, BlockDiff, EncodedBody } from './body.js'
import {
  createDerivation,
  type Derivation,
  type DerivationRules,
  type DerivedBlock,
  type OutputHashes,
  type ReadBody,
} from './derivation/derive.js'
import { transactionsRoot } from './derivation/transactions-map.js'
import { BlockError, isInvalidBlock } from './errors.js'
import { blockVersion, type Header } from './header.js'
import { createPauses, pause } from './turns.js'

/** A body that belongs to its header. */
export interface RightBody {
  readonly body: BlockBody
  /** The block's change of the outputs. Absent if no block with this body is valid. */
  readonly outputs?: DerivedBlock['outputs']
  /** Why no block with this body is valid. Its sender is not at fault. */
  readonly error?: Error
}

/** A body as its header may commit to it. */
interface Reading {
  readonly derivation: Derivation
  /** The diff that was sent, if it must follow from the transactions. */
  readonly diff?: BlockBody
}

/**
 * Verifies a body against its header: the transactions have the header's transactions root, `spent` and
 * `produced` follow from them, and they do not contradict each other. {@link OutputTrie.applyBlock} verifies
 * the rest of the roots, {@link judgeBlock} the rules of the ledger. Lets the event loop run at intervals.
 *
 * The header fixes every byte of the body: the transactions map has the hashes of all transactions in chunks,
 * `depositsRoot` the deposits, and the rest follows from them. Whether layer 1 has the deposits is for
 * {@link faultOfDeposits}. The header may commit to what `rules.read` gives for bodies that do not decode, or
 * to nothing. Each reading is compared with its root before anything else is made of it.
 *
 * @param before the outputs before the block, whose root is the header's `prevUtxosRoot`; with those of other
 *   blocks, an honest body does not match
 * @param unfounded why no block with this header is valid after those outputs, whatever its body
 * @returns `error` when no body of this header is acceptable
 * @throws {BlockError} `BLOCK_BODY_MISMATCH` when the body belongs to another header
 */
export async function verifyBody(
  body: BlockBody,
  header: Header,
  before: (derivation: Derivation) => OutputHashes | Promise<OutputHashes>,
  rules: DerivationRules = {},
  unfounded?: Error,
): Promise<RightBody> {
  const fault = faultOfHeader(header, rules.bridge) ?? unfounded
  let mismatch: unknown
  for await (const reading of readingsOf(body, rules)) {
    const { derivation, diff } = reading
    const right = async () => diff ?? (await bodyWith(derivation, body))
    try {
      if (fault === undefined) {
        const outputs = await verifyRoots(reading, header, await before(derivation))
        return { body: await right(), outputs }
      }
      await verifyDiff(reading)
      return { body: await right(), error: fault }
    } catch (error) {
      if (isInvalidBlock(error)) return { body: await right(), error }
      mismatch ??= error
    }
  }
  throw mismatch
}

/** The readings of a body of which its header may commit to any; they replace its sender's. */
async function* readingsOf(
  body: BlockBody,
  { read, bridge }: DerivationRules,
): AsyncGenerator<Reading, void> {
  // Without a bridge there are no deposits, and the rest of an encoded body is not decoded for them.
  if (bridge !== undefined) await decoded(body)
  const content = bridge === undefined ? { transactions: body.transactions } : body
  let isMoved = false
  const reading: ReadBody = (undecoded) => {
    const moved = read?.(undecoded)
    isMoved ||= moved !== undefined
    return moved
  }
  const derivation = await derive(content, { read: reading, bridge })
  if (!isMoved) return yield { derivation, diff: body }
  yield { derivation }
  yield { derivation: await derive(content, { bridge }) }
}

/** A body with the diff that a reading of it has. */
async function bodyWith(
  { diffInTurns }: Derivation,
  { transactions, deposits = [] }: BlockBody,
): Promise<BlockBody> {
  return { transactions, ...(await diffInTurns()), deposits }
}

/** Derives a body; other work runs meanwhile. */
export async function derive(
  { transactions, deposits = [] }: Pick<BlockBody, 'transactions' | 'deposits'>,
  rules?: DerivationRules,
): Promise<Derivation> {
  const derivation = createDerivation(rules)
  const pauseIfDue = createPauses()
  for (const deposit of deposits) {
    await pauseIfDue()
    derivation.deposit(deposit)
  }
  for (const cbor of transactions) {
    await pauseIfDue()
    derivation.add(cbor)
  }
  return derivation
}

/**
 * Whether a derived body belongs to a header, and does not contradict itself. The diff comes last: until the
 * root is right, a stranger could have sent any.
 */
async function verifyRoots(
  reading: Reading,
  header: Header,
  before: OutputHashes,
): Promise<DerivedBlock['outputs']> {
  const { derivation } = reading
  const derived = await derivation.deriveInTurns(before)
  if (!equalBytes(await rootOf(derived.deposits(), pause), header.depositsRoot))
    throw mismatched('The deposits do not have the deposits_root of the header')
  if (!equalBytes(await transactionsRoot(derived, pause), header.transactionsRoot))
    throw mismatched('The transactions do not have the transactions_root of the header')
  await verifyDiff(reading)
  if (!equalBytes(await rootOf(derived.withdrawals(), pause), header.withdrawalsRoot))
    throw new BlockError('BLOCK_INVALID', 'The withdrawals do not have the withdrawals_root of the header')
  const { fault } = derivation
  if (fault === undefined) return derived.outputs
  const { message, reference, position } = fault
  throw new BlockError('BLOCK_INVALID', message, {
    cause: fault,
    ...(reference !== undefined && { reference }),
    ...(position !== undefined && { position }),
  })
}

async function verifyDiff({ derivation, diff }: Reading): Promise<void> {
  if (diff !== undefined && !(await derivation.hasDiff(await decoded(diff))))
    throw mismatched('Spent and produced outputs do not follow from the transactions')
}

const mismatched = (message: string): BlockError => new BlockError('BLOCK_BODY_MISMATCH', message)

/** A diff whose lists are at hand. */
async function decoded(diff: BlockDiff | EncodedBody): Promise<BlockDiff> {
  return 'decodeDiff' in diff ? diff.decodeDiff() : diff
}

/**
 * Why no block with a header is valid, by what it says about itself: another block version, or events without
 * a bridge.
 *
 * @param bridge hash of the bridge's script, in a deployment that has one
 * @returns {BlockError} `BLOCK_INVALID`
 */
export function faultOfHeader(header: Header, bridge?: Uint8Array): BlockError | undefined {
  const { blockVersion: version, depositsRoot, withdrawalsRoot } = header
  if (version !== blockVersion)
    return new BlockError(
      'BLOCK_INVALID',
      `The header has block version ${version}; this package knows version ${blockVersion}`,
    )
  const hasEvents = ![depositsRoot, withdrawalsRoot].every((root) => equalBytes(root, emptyRoot()))
  if (bridge !== undefined || !hasEvents) return undefined
  return new BlockError('BLOCK_INVALID', 'The header has deposits or withdrawals, and there is no bridge')
}
