import { headerHash } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { fraudScript, type ProvableRules } from '@ratatosk/contracts'
import { type Contracts, type RemovalByVerdict, removeInvalidBlock } from '@ratatosk/protocol'
import {
  type BuildContext,
  buildTransaction,
  isWalletError,
  keysFromSigningKey,
  type TransactionDraft,
  toOutput,
} from '@ratatosk/transaction'
import type { AccusedBlock } from './accused-block.js'
import { FraudError } from './errors.js'
import { findFraud, type ProvenFraud } from './find-fraud.js'

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
export type RemovalContext = Pick<BuildContext, 'parameters' | 'slots' | 'slot'> &
  Required<Pick<BuildContext, 'evaluator'>>

/** The removal of a block for a fraud that its proof shows. */
export interface FraudRemoval {
  readonly policy: ProvenFraud['policy']
  readonly fraud: ProvenFraud['proof']['fraud']
  /** Mints the verdict, removes the block and slashes its operator. */
  readonly draft: TransactionDraft
}

/**
 * Searches a block for a fraud. If there is one, drafts the transaction that mints the verdict with the
 * smallest proof, removes the block and slashes its operator. The wallet that sends it receives the block's
 * ada and the bond, less the penalty. All scripts and all rules of layer 1 have accepted the draft with
 * stand-in funds, so a proof that proves nothing is never sent.
 *
 * {@link findFraud} documents what is not found. A proof holds the body of at most one transaction, and is
 * refused if that leaves too little room in the layer-1 transaction.
 *
 * @returns undefined if no fraud is found
 * @throws {FraudError} (rejects) `FRAUD_PROOF_REFUSED`
 * @throws {ProtocolError} (rejects) `PROTOCOL_BROKEN_QUEUE`
 * @throws {WalletError} (rejects) `WALLET_INVALID_DRAFT` if the block is not in the list, or if the script
 *   that proves the fraud is not a verdict policy of the contracts
 * @throws {ScriptsNotRunError} (rejects) where scripts could not be run
 */
export async function removeFraudulentBlock(
  contracts: Contracts,
  { block, rules, ...others }: RemovalByFraud,
  context: RemovalContext,
): Promise<FraudRemoval | undefined> {
  const found = findFraud(block, rules)
  if (found === undefined) return undefined
  const { policy, proof, redeemer } = found
  const draft = removeInvalidBlock(contracts, {
    ...others,
    headerHash: toHex(headerHash(block.header)),
    verdict: { kind: 'minted', policy: fraudScript(policy, rules), redeemer },
  })
  await requireAccepted(contracts, draft, context)
  return { policy, fraud: proof.fraud, draft }
}

/** More than any removal costs; a removal brings ada, so this is mostly collateral. */
const standInLovelace = 1_000_000_000n

/**
 * Evaluates a draft as a whole transaction. Its funds are an output that does not exist, of a public key: no
 * validator checks who pays.
 *
 * @throws {FraudError} (rejects) `FRAUD_PROOF_REFUSED`
 */
export async function requireAccepted(
  { networkId }: Contracts,
  draft: TransactionDraft,
  context: RemovalContext,
): Promise<void> {
  const { payment, address } = keysFromSigningKey('00'.repeat(32), { networkId })
  const value = { lovelace: standInLovelace, assets: new Map() }
  const output = toOutput({ address: address.bytes, value, datum: { kind: 'none' } })
  const reference = { transactionId: new Uint8Array(32), index: 0 }
  try {
    await buildTransaction(draft, {
      ...context,
      networkId,
      funds: [{ reference, output }],
      changeAddress: address.bytes,
      signers: [payment],
    })
  } catch (error) {
    if (!isWalletError(error) || error.code !== 'WALLET_TRANSACTION_REFUSED') throw error
    const message = `The removal by a fraud proof is refused: ${error.message}`
    throw new FraudError('FRAUD_PROOF_REFUSED', message, { cause: error })
  }
}
