import { type BlockBody, deriveBlock, type Header, headerHash } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import {
  findFraud,
  fraudScript,
  type ProvableRules,
  type ProvenFraud,
  type SuspectBlock,
} from '@ratatosk/contracts'
import {
  type BuildContext,
  buildTransaction,
  isWalletError,
  keysFromSigningKey,
  type TransactionDraft,
  toOutput,
} from '@ratatosk/transaction'
import { createMemoryStore, createTrie, type Entry, type TrieView } from '@ratatosk/trie'
import type { Contracts } from './contracts.js'
import { ProtocolError } from './errors.js'
import { type RemovalByVerdict, removeInvalidBlock } from './removal-drafts.js'

/**
 * A block of the state queue with what its header commits to. Its tries must not change while it is judged.
 */
export interface AccusedBlock {
  readonly header: Header
  readonly body: Pick<BlockBody, 'transactions'>
  /** The unspent outputs of the header's `prevUtxosRoot`: output reference CBOR → output CBOR. */
  readonly before: TrieView
  /** Those of the header's `utxosRoot`. Without them, what is wrong there stays unproven. */
  readonly after?: TrieView
  /**
   * The transactions map of the header's `transactionsRoot`, if it is not the one that follows from the
   * transactions.
   */
  readonly entries?: Iterable<Entry>
  /**
   * References, as CBOR, that may differ before and after the block although the transactions map does not
   * name them.
   */
  readonly keys?: Iterable<Uint8Array>
  /**
   * See `SuspectBlock` of `@ratatosk/contracts`: without it, frauds in what transactions do with their inputs
   * are not found.
   */
  readonly outputBefore?: (key: Uint8Array) => Uint8Array | undefined
}

/** What a removal by a fraud proof needs besides the contracts. */
export interface RemovalByFraud extends Pick<RemovalByVerdict, 'queue' | 'registry' | 'referenceScripts'> {
  readonly block: AccusedBlock
  /**
   * The rules of the layer 2, as the verdict policies have them. Without them, only frauds of the ledger
   * policy are found.
   */
  readonly rules?: ProvableRules
}

/** With what a removal is evaluated before it is returned. */
export type Judgement = Pick<BuildContext, 'parameters' | 'slots' | 'slot'> &
  Required<Pick<BuildContext, 'evaluator'>>

/** The removal of a block for a fraud that its proof shows. */
export interface FraudRemoval {
  readonly policy: ProvenFraud['policy']
  readonly fraud: ProvenFraud['proof']['fraud']
  /** Mints the verdict, removes the block and slashes its operator. */
  readonly draft: TransactionDraft
}

/**
 * Looks for a fraud in a block. If there is one, drafts the transaction that mints the verdict with the
 * smallest proof, removes the block and slashes its operator: the block's ada and the bond, but for the
 * penalty, go to the wallet that sends it. All scripts and all rules of layer 1 have accepted the draft with
 * stand-in funds, so a proof that proves nothing is never sent.
 *
 * `findFraud` of `@ratatosk/contracts` says what is not found. A proof holds the body of at most one
 * transaction, and is refused if that leaves too little room in the layer-1 transaction.
 *
 * @returns undefined if no fraud is found
 * @throws {ProtocolError} (rejects) `PROTOCOL_ROOT_MISMATCH`, `PROTOCOL_PROOF_REFUSED`;
 *   `PROTOCOL_BROKEN_QUEUE`
 * @throws {WalletError} (rejects) `WALLET_INVALID_DRAFT` if the block is not in the list, or the contracts do
 *   not name
 *   the script that proves the fraud as a verdict policy
 * @throws {ScriptsNotRunError} (rejects) where scripts could not be run
 */
export async function removeFraudulentBlock(
  contracts: Contracts,
  { block, rules, ...others }: RemovalByFraud,
  judgement: Judgement,
): Promise<FraudRemoval | undefined> {
  const { keys } = block
  const found = findFraud(await openBlock(block), { ...(keys && { keys }), ...(rules && { rules }) })
  if (found === undefined) return undefined
  const { policy, proof, redeemer } = found
  const draft = removeInvalidBlock(contracts, {
    ...others,
    headerHash: toHex(headerHash(block.header)),
    verdict: { kind: 'minted', policy: fraudScript(policy, rules), redeemer },
  })
  await requireAccepted(contracts, draft, judgement)
  return { policy, fraud: proof.fraud, draft }
}

/**
 * Builds the transactions map of a block, and compares all roots with the header's.
 *
 * @throws {ProtocolError} (rejects) `PROTOCOL_ROOT_MISMATCH`
 */
export async function openBlock(block: AccusedBlock): Promise<SuspectBlock> {
  const { header, body, before, after, entries, outputBefore } = block
  const { transactions } = body
  const values = new Map<string, Uint8Array>()
  const all: Entry[] = []
  for (const entry of entries ?? deriveBlock(transactions, before.valueHash).entries()) {
    const [key, value] = entry
    values.set(toHex(key), value)
    all.push(entry)
  }
  const map = createTrie({ store: createMemoryStore(), history: 0 })
  await map.rebuild(all)
  requireRoot('transactions map', map, header.transactionsRoot)
  requireRoot('trie of the outputs before the block', before, header.prevUtxosRoot)
  if (after) requireRoot('trie of the outputs after the block', after, header.utxosRoot)
  return {
    header,
    transactions,
    map,
    valueOf: (key) => values.get(toHex(key)),
    entriesOfMap: () => all,
    before,
    ...(after && { after }),
    ...(outputBefore && { outputBefore }),
  }
}

function requireRoot(what: string, { root }: TrieView, expected: Uint8Array): void {
  if (equalBytes(root, expected)) return
  const message = `The ${what} has the root ${toHex(root)}, and the header commits to ${toHex(expected)}`
  throw new ProtocolError('PROTOCOL_ROOT_MISMATCH', message)
}

/** More than any removal costs; a removal brings ada, so this is mostly collateral. */
const standInLovelace = 1_000_000_000n

/**
 * Evaluates a draft as a whole transaction. Its funds are an output that does not exist, of a key that
 * everybody knows: no validator looks at who pays.
 *
 * @throws {ProtocolError} (rejects) `PROTOCOL_PROOF_REFUSED`
 */
export async function requireAccepted(
  { networkId }: Contracts,
  draft: TransactionDraft,
  judgement: Judgement,
): Promise<void> {
  const { payment, address } = keysFromSigningKey('00'.repeat(32), { networkId })
  const value = { lovelace: standInLovelace, assets: new Map() }
  const output = toOutput({ address: address.bytes, value, datum: { kind: 'none' } })
  const reference = { transactionId: new Uint8Array(32), index: 0 }
  try {
    await buildTransaction(draft, {
      ...judgement,
      networkId,
      funds: [{ reference, output }],
      changeAddress: address.bytes,
      signers: [payment],
    })
  } catch (error) {
    if (!isWalletError(error) || error.code !== 'WALLET_TRANSACTION_REFUSED') throw error
    const message = `The removal by a fraud proof is refused: ${error.message}`
    throw new ProtocolError('PROTOCOL_PROOF_REFUSED', message, { cause: error })
  }
}
