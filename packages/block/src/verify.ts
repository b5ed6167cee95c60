import { equalBytes } from '@ratatosk/cbor'
import { emptyRoot, rootOf } from '@ratatosk/trie'
import type { BlockBody, BlockDiff, EncodedBody } from './body.js'
import {
  createDerivation,
  type Derivation,
  type DerivationRules,
  type DerivedBlock,
  type OutputHashes,
} from './derivation/derive.js'
import { transactionsRoot } from './derivation/transactions-map.js'
import { BlockError } from './errors.js'
import { blockVersion, type Header } from './header.js'
import { createPauses, pause } from './turns.js'

/**
 * Verifies a body against its header: the transactions have the header's transactions root, `spent` and
 * `produced` follow from them, and they do not contradict each other. {@link OutputTrie.applyBlock} verifies
 * the rest of the roots, {@link judgeBlock} the rules of the ledger. Lets the event loop run at intervals.
 *
 * The header fixes every byte of the body: the transactions map has the hashes of all transactions in chunks,
 * `depositsRoot` the deposits, and the rest follows from them. Whether layer 1 has the deposits is for
 * {@link verifyDeposits}.
 *
 * @param before the outputs before the block, whose root is the header's `prevUtxosRoot`; with those of other
 *   blocks, an honest body does not match
 * @param bridge hash of the bridge's script, in a deployment that has one
 * @throws {BlockError} `BLOCK_BODY_MISMATCH` when the body belongs to another header; `BLOCK_INVALID` when no
 *   body of this header is acceptable
 */
export async function verifyBody(
  body: BlockBody,
  header: Header,
  before: OutputHashes,
  bridge?: Uint8Array,
): Promise<void> {
  verifyHeader(header, bridge)
  await verifyRoot(await derive(body, { bridge }), header, before, body)
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
 * The second half of {@link verifyBody}: whether a derived body belongs to a header, and does not contradict
 * itself. The diff comes last: until the root is right, a stranger could have sent any.
 *
 * @param diff what was sent as the diff of the transactions, if that matters
 * @returns what it does to the outputs
 * @throws {BlockError} like {@link verifyBody}
 */
export async function verifyRoot(
  derivation: Derivation,
  header: Pick<Header, 'transactionsRoot' | 'depositsRoot' | 'withdrawalsRoot'>,
  before: OutputHashes,
  diff?: BlockDiff,
): Promise<DerivedBlock['outputs']> {
  const derived = await derivation.deriveInTurns(before)
  if (!equalBytes(await rootOf(derived.deposits(), pause), header.depositsRoot))
    throw new BlockError('BLOCK_BODY_MISMATCH', 'The deposits do not have the deposits_root of the header')
  const root = await transactionsRoot(derived, pause)
  if (!equalBytes(root, header.transactionsRoot))
    throw new BlockError(
      'BLOCK_BODY_MISMATCH',
      'The transactions do not have the transactions_root of the header',
    )
  if (diff !== undefined && !(await derivation.hasDiff(await decoded(diff))))
    throw new BlockError(
      'BLOCK_BODY_MISMATCH',
      'Spent and produced outputs do not follow from the transactions',
    )
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

/** A diff whose lists are at hand. */
export async function decoded(diff: BlockDiff | EncodedBody): Promise<BlockDiff> {
  return 'decodeDiff' in diff ? diff.decodeDiff() : diff
}

/**
 * Verifies what a header says about itself.
 *
 * @param bridge hash of the bridge's script, in a deployment that has one
 * @throws {BlockError} `BLOCK_INVALID` for another block version, or with events without a bridge
 */
export function verifyHeader(header: Header, bridge?: Uint8Array): void {
  if (header.blockVersion !== blockVersion)
    throw new BlockError(
      'BLOCK_INVALID',
      `The header has block version ${header.blockVersion}; ` + `this package knows version ${blockVersion}`,
    )
  if (bridge !== undefined) return
  if (!equalBytes(header.depositsRoot, emptyRoot()) || !equalBytes(header.withdrawalsRoot, emptyRoot()))
    throw new BlockError('BLOCK_INVALID', 'The header has deposits or withdrawals, and there is no bridge')
}
