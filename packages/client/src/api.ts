// Written by scripts/write-client-types.mjs from docs/openapi.json: do not edit.
import type { NodeRequestOptions } from './options.js'

/** A transaction was accepted into the mempool */
export interface AcceptedEvent {
  /** Transaction hash */
  readonly txHash: string
  /** When it was accepted */
  readonly at: string
}

/** A block with header and body */
export interface ArchivedBlock {
  /** Hash of the header */
  readonly hash: string
  readonly height: number
  readonly header: Header
  readonly body: BlockBody
}

/** Blocks by ascending height */
export interface ArchivedBlocks {
  readonly blocks: readonly ArchivedBlock[]
}

/** The body of a block */
export interface ArchivedBody {
  /** Hash of the header */
  readonly hash: string
  readonly height: number
  readonly body: BlockBody
}

/** The header of a block */
export interface ArchivedHeader {
  /** Hash of the header */
  readonly hash: string
  readonly height: number
  readonly header: Header
}

/** What is kept off layer 1: the transactions of a block and their effect */
export interface BlockBody {
  /** In block order */
  readonly transactions: readonly string[]
  /** Outputs that the block spends and did not bring */
  readonly spent: readonly string[]
  /** Outputs that the block brings and does not spend */
  readonly produced: readonly {
    /** CBOR of the output reference */
    readonly outref: string
    /** CBOR of the output */
    readonly output: string
  }[]
  /** Deposits on layer 1 that the block credits, and its fee output */
  readonly deposits: readonly {
    /** Id of the deposit or of the fee output */
    readonly id: string
    /** CBOR of the output that it becomes */
    readonly output: string
  }[]
  /** Always empty */
  readonly withdrawals: readonly never[]
}

/** A block has entered a state */
export interface BlockEvent {
  /** The state that the block has entered; an earlier one after a roll-back of layer 1 */
  readonly state: 'built' | 'submitted' | 'committed' | 'mature' | 'merged' | 'removed'
  readonly height: number
  /** Header hash */
  readonly headerHash: string
  /** How many transactions the block has */
  readonly transactions: number
  /** Layer-1 transaction that commits the block; absent if another operator did */
  readonly commitTxHash?: string
  /** Layer-1 transaction that merges the block, once it is signed */
  readonly mergeTxHash?: string
  /** End of the block */
  readonly endTime: string
  /** From when on the block may be merged */
  readonly maturesAt?: string
  /** When it entered the state */
  readonly at: string
}

/** The transactions of a block */
export interface BlockTransactions {
  /** In block order; empty for an unknown block */
  readonly hashes: readonly string[]
}

/** What the node found against a block */
export interface BlockVerdict {
  /** Header hash of the block */
  readonly headerHash: string
  readonly height: number
  /** Hash of the operator's verification key */
  readonly operatorKey: string
  /** unavailable: no one serves the body of the block; valid: the body came, and breaks no rule; invalid: the block breaks a rule; unprovable: and no policy can prove it on layer 1; removing: transactions are sent; removed: the block is no longer in the state queue */
  readonly state: 'unavailable' | 'valid' | 'invalid' | 'unprovable' | 'removing' | 'removed'
  /** The broken rule, or what is missing, for people */
  readonly reason: string
  /** Place in the block of the transaction that breaks the rule */
  readonly position?: number
  /** Verdict policy that proves the fraud */
  readonly policy?: string
  /** Name of the fraud in that policy */
  readonly fraud?: string
  /** Layer-1 transactions on the way to the removal, oldest first */
  readonly transactions: readonly {
    /** Transaction hash on layer 1 */
    readonly txHash: string
    /** Asks for what the operator hides; stores a datum of the proof; mints the verdict; removes the block; prunes the blocks behind it */
    readonly stage: 'question' | 'datum' | 'verdict' | 'removal' | 'prune'
    /** Lovelace */
    readonly fee: string
    /** When it was sent */
    readonly sentAt: string
  }[]
  /** When the node found it */
  readonly foundAt: string
  /** When the node saw that the block is removed */
  readonly removedAt?: string
}

/** A page of what the node found against blocks */
export interface BlockVerdicts {
  /** Newest first */
  readonly verdicts: readonly BlockVerdict[]
  /** Whether there is another page */
  readonly hasMore: boolean
}

/** The table is in the log of the server */
export interface BlocksLogged {
  readonly message: 'BlocksTxsDB drawn in server logs!'
}

/** How ada and tokens come to layer 2 and leave it, and what layer 1 holds for it */
export interface Bridge {
  /** Of deposits on layer 1; a payment to it on layer 2 with a withdrawal datum leaves layer 2 */
  readonly address: string
  readonly policies: {
    /** Script that holds the treasury; policy of settlements */
    readonly bridge: string
    /** Policy of deposits */
    readonly events: string
  }
  /** Policies that the bridge takes besides ada */
  readonly assets: readonly string[]
  /** Milliseconds from the end of a deposit's validity until it is credited */
  readonly eventWaitMs: number
  /** Lovelace of each withdrawal that go to who pays it out */
  readonly payoutFee: string
  /** Lovelace that a reserve has at least */
  readonly reserveMin: string
  /** End of the newest block: deposits of an earlier time are credited */
  readonly creditedUntil?: string
  /** End of the newest merged block */
  readonly confirmedUntil?: string
  readonly treasury: {
    /** Lovelace of reserves and deposits */
    readonly lovelace: string
    /** Tokens of reserves and deposits */
    readonly assets: readonly {
      /** Policy id and asset name in hex, joined */
      readonly unit: string
      /** Decimal */
      readonly quantity: string
    }[]
    /** How many outputs hold it */
    readonly outputs: number
    /** Lovelace of all settlements; absent while the node does not know */
    readonly owed?: string
    /** Whether the treasury has what the settlements owe; absent with `owed` */
    readonly backed?: boolean
  }
  /** Merged blocks whose withdrawals are not all paid, oldest first */
  readonly settlements: readonly {
    /** Header hash of the merged block */
    readonly headerHash: string
    /** Output on layer 1 that says what is owed */
    readonly outref: string
    /** Withdrawals to pay; absent while the node does not know */
    readonly remaining?: number
    /** Lovelace of these withdrawals; absent with `remaining` */
    readonly lovelace?: string
  }[]
}

/** Money on its way from layer 1 to layer 2 */
export interface BridgeDeposit {
  /** Names the deposit on both layers */
  readonly id: string
  /** Its output at the bridge; absent once that is spent */
  readonly layer1Outref?: string
  /** The output that it becomes on layer 2 */
  readonly outref: string
  /** CBOR of that output */
  readonly output: string
  /** The block of this time credits it; absent once the output at the bridge is spent */
  readonly time?: string
  /** waiting: on layer 1, in no block; credited: in a block that is not on layer 1 yet; committed, merged: as its block */
  readonly state: 'waiting' | 'credited' | 'committed' | 'merged'
  /** Of the block that credits it */
  readonly headerHash?: string
  /** Of that block */
  readonly height?: number
}

/** A page of deposits */
export interface BridgeDeposits {
  /** By time */
  readonly deposits: readonly BridgeDeposit[]
  /** Whether there is another page */
  readonly hasMore: boolean
}

/** A transaction of layer 1 that its user checks, signs and submits */
export interface BridgeDraft {
  /** CBOR of the transaction of layer 1, without signatures */
  readonly transaction: string
  /** Transaction hash on layer 1 */
  readonly txHash: string
  /** Fee in lovelace */
  readonly fee: string
  /** Of a deposit: its id */
  readonly id?: string
  /** Of a deposit: the block of this time credits it, some seconds earlier or later */
  readonly creditedFrom?: string
}

/** A transaction that layer 1 has taken */
export interface BridgeSubmitted {
  /** Transaction hash on layer 1 */
  readonly txHash: string
}

/** Money on its way from layer 2 to layer 1 */
export interface BridgeWithdrawal {
  /** The output on layer 2 that left it */
  readonly outref: string
  /** CBOR of that output */
  readonly output: string
  /** Who gets it on layer 1, in bech32; absent if no one can pay it */
  readonly payTo?: string
  /** A transaction of layer 2 made it */
  readonly kind: 'transaction'
  /** accepted: on layer 2 only; committed, mature: as its block; owed: a settlement on layer 1 holds it; paid: on layer 1 */
  readonly state: 'accepted' | 'committed' | 'mature' | 'owed' | 'paid'
  /** Of its block */
  readonly headerHash?: string
  /** The layer-1 transaction that paid it */
  readonly payoutTxHash?: string
}

/** A page of withdrawals */
export interface BridgeWithdrawals {
  /** In order of acceptance */
  readonly withdrawals: readonly BridgeWithdrawal[]
  /** Whether there is another page */
  readonly hasMore: boolean
}

/** A block is committed, or there was nothing to commit */
export type Committed =
  | {
      /** Block commitment successful: <headerHash> */
      readonly message: string
      /** Header hash of the block: 56 hex digits */
      readonly headerHash: string
      /** The layer-1 transaction that committed the block: 64 hex digits */
      readonly txHash: string
      /** Transactions in the block */
      readonly transactions: number
    }
  | {
      readonly message: 'Nothing to commit'
      readonly transactions: 0
    }

/** A dead letter with everything that is kept of it */
export interface DeadLetter extends DeadLetterSummary {
  /** The transaction as submitted, in hex; absent once retention has dropped it */
  readonly cbor?: string
  /** All failed predicates with their details */
  readonly details: unknown
}

/** A page of dead letters */
export interface DeadLetterPage {
  /** Newest first */
  readonly deadLetters: readonly DeadLetterSummary[]
  /** Pass it as `before` for the next page; absent on the last page */
  readonly before?: string
}

/** A transaction that validation rejected for good */
export interface DeadLetterSummary {
  /** Id of the latest submission, as `POST /submit` answered it */
  readonly id: string
  /** SHA-256 of the submitted bytes, 64 hex digits; it stays when they are rejected again */
  readonly digest: string
  /** Transaction id, 64 hex digits; absent if the submission does not decode */
  readonly txHash?: string
  /** Name of the first failed predicate, such as FeeTooSmallUTxO */
  readonly code: string
  /** The reason, for people */
  readonly reason: string
  /** Deliveries of the latest submission */
  readonly attempts: number
  /** Rejected submissions of the same transaction */
  readonly count: number
  readonly submittedAt: string
  readonly rejectedAt: string
  /** Id of the submission of the latest replay */
  readonly replayedAs?: string
}

export interface ErrorBody {
  /** What went wrong, for people */
  readonly error: string
}

/** What submission of the transaction would lead to now */
export interface Evaluation {
  /** What submission would do now: accept it; acknowledge it again; try again until its inputs are known or its interval begins; reject it */
  readonly verdict: 'valid' | 'known' | 'retriable' | 'invalid'
  /** Transaction hash; absent if the bytes are not a transaction */
  readonly txHash?: string
  /** Every predicate that is found to fail. Scripts, and more than three signatures, are validated only if nothing else fails */
  readonly failures: readonly FailedPredicate[]
  /** In the order of the transaction */
  readonly redeemers: readonly RedeemerReport[]
  /** Slot at which it was validated */
  readonly slot: number
}

/** `data` of an event, by its name */
export type EventData = AcceptedEvent | RejectedEvent | BlockEvent | VerdictEvent

/** A budget or cost of a script */
export interface ExecutionUnits {
  /** Memory units, a decimal integer */
  readonly memory: string
  /** CPU steps, a decimal integer */
  readonly steps: string
}

/** A quantity of an asset */
export interface ExplorerAmount {
  /** `lovelace`, or policy id and asset name in hex */
  readonly unit: string
  /** Quantity; negative if burnt */
  readonly quantity: string
}

/** A block with its times */
export interface ExplorerBlock {
  readonly height: number
  /** Header hash */
  readonly headerHash: string
  /** Where it is */
  readonly state: 'built' | 'submitted' | 'committed' | 'mature' | 'merged' | 'removed'
  /** How many transactions it has */
  readonly transactions: number
  /** Size of its transactions in bytes; absent until the node has counted them */
  readonly bytes?: number
  /** Fees of its transactions; absent until the node has counted them, in lovelace */
  readonly fees?: string
  /** End of the block */
  readonly endTime: string
  /** From when on it may be merged */
  readonly maturesAt?: string
  readonly times: ExplorerBlockTimes
  /** Layer-1 transaction that commits it; absent if another operator did */
  readonly commitTxHash?: string
  /** Fee of that transaction, in lovelace */
  readonly commitFee?: string
  /** Layer-1 transaction that merges it, once it is signed */
  readonly mergeTxHash?: string
}

/** A block with its header and a part of its transactions */
export interface ExplorerBlockDetails {
  readonly block: ExplorerBlock
  readonly header: ExplorerHeader
  /** A part of its transactions, in order; none if the block is removed */
  readonly transactions: readonly ExplorerBlockTransaction[]
  /** How many transactions are before this part */
  readonly offset: number
}

/** When a block entered its states, by the clock of the database; newest entry of each */
export interface ExplorerBlockTimes {
  /** When the block was built */
  readonly built: string
  /** When layer 1 accepted its transaction */
  readonly submitted?: string
  /** When it was in the state queue */
  readonly committed?: string
  /** When its maturity window was over */
  readonly mature?: string
  /** When it was in the confirmed state */
  readonly merged?: string
  /** When it was no longer in the state queue */
  readonly removed?: string
}

/** A transaction in a block */
export interface ExplorerBlockTransaction {
  /** Transaction hash */
  readonly hash: string
  /** Size in bytes */
  readonly bytes: number
  /** Its fee, in lovelace */
  readonly fee: string
  /** How many outputs it spends */
  readonly inputs: number
  /** How many outputs it makes */
  readonly outputs: number
  /** How many scripts it runs with a redeemer */
  readonly redeemers: number
  /** False if its scripts failed and it spent its collateral */
  readonly valid: boolean
}

/** A part of the list of blocks */
export interface ExplorerBlocks {
  /** From the newest down; without removed blocks */
  readonly blocks: readonly ExplorerBlock[]
  /** `before` of the next part, if there is one */
  readonly next?: number
}

/** A datum among the witnesses */
export interface ExplorerDatum {
  /** Datum hash */
  readonly hash: string
  /** As in an output; absent if too large */
  readonly json?: unknown
}

export interface ExplorerDelay {
  /** Half of the transactions took at most so long, in milliseconds */
  readonly p50: number
  /** 95 of 100 transactions took at most so long, in milliseconds */
  readonly p95: number
  /** How many transactions were measured */
  readonly transactions: number
}

/** What an answer comes from */
export interface ExplorerFact {
  /** Setting, or fact of the chain */
  readonly name: string
  /** Its value in this deployment */
  readonly value: string
}

/** A field of the transaction in its CBOR */
export interface ExplorerField {
  /** Name of the field, such as `body.fee` */
  readonly name: string
  /** Where its value starts, in bytes */
  readonly offset: number
  /** Length of its value in bytes */
  readonly length: number
}

/** The ten fields of the header */
export interface ExplorerHeader {
  /** Root of the unspent outputs before the block */
  readonly utxosRootBefore: string
  /** Root of the unspent outputs after the block */
  readonly utxosRootAfter: string
  /** Root of the transactions */
  readonly transactionsRoot: string
  /** Root of the deposits */
  readonly depositsRoot: string
  /** Root of the withdrawals */
  readonly withdrawalsRoot: string
  /** Start of the block */
  readonly startTime: string
  /** End of the block */
  readonly endTime: string
  /** Hash of the previous header; zeros for the first block */
  readonly previousHeaderHash: string
  /** Hash of the operator's key */
  readonly operator: string
  /** Version of the block format */
  readonly blockVersion: number
}

/** An input; without output and maker if it is not resolved here */
export interface ExplorerInput {
  /** Output reference: transaction hash and index */
  readonly outref: string
  readonly output?: ExplorerOutput
  /** Transaction or deposit that made it; absent for an output of the genesis */
  readonly madeBy?: string
}

/** An output, who made it and who spent it */
export interface ExplorerLineage {
  readonly output: ExplorerOutput
  /** Transaction or deposit that made it; absent for an output of the genesis */
  readonly madeBy?: string
}

/** Something that this node has */
export interface ExplorerMatch {
  /** What it is */
  readonly kind: 'transaction' | 'block' | 'output' | 'address' | 'asset' | 'policy' | 'submission'
  /** Its full name */
  readonly id: string
  /** Where this node answers about it */
  readonly path: string
}

/** Accepted transactions in no block */
export interface ExplorerMempool {
  /** Accepted transactions in no block */
  readonly transactions: number
  /** Their size in bytes */
  readonly bytes: number
  /** Whether there are more than were counted */
  readonly more: boolean
}

/** Metadata under a label */
export interface ExplorerMetadata {
  /** Label */
  readonly label: string
  /** cardano-cli's JSON without schema, integers beyond ±2^53 as text; absent if too large */
  readonly json?: unknown
}

/** A minute; the newest one is not over */
export interface ExplorerMinute {
  /** Begin of the minute */
  readonly at: string
  /** Accepted transactions; absent if not counted completely */
  readonly accepted?: number
  /** Rejected submissions; absent if not counted completely */
  readonly rejected?: number
  /** Transactions whose block was committed */
  readonly committed: number
  /** Transactions whose block was merged */
  readonly merged: number
}

/** An output */
export interface ExplorerOutput {
  /** Output reference: transaction hash and index */
  readonly outref: string
  /** Bech32, or base58 for Byron addresses */
  readonly address: string
  /** Lovelace first */
  readonly amount: readonly ExplorerAmount[]
  /** Hash of its datum */
  readonly datumHash?: string
  /** Its inline datum in cardano-cli's detailed schema, with integers as text; absent if too large */
  readonly datum?: unknown
  readonly referenceScript?: ExplorerScript
  readonly spentBy?: ExplorerSpender
}

/** What the node does now */
export interface ExplorerOverview {
  /** When this was read, by the clock of the node */
  readonly at: string
  /** Version of the node */
  readonly version: string
  /** Role of this process */
  readonly role: string
  /** Name of the network */
  readonly network: string
  /** From a block's end until it may be merged, in milliseconds */
  readonly maturityWindowMs?: number
  readonly queue?: ExplorerQueue
  readonly mempool: ExplorerMempool
  readonly blocks: ExplorerTotals
  /** Height of the newest block */
  readonly newestHeight?: number
  /** When the newest committed block was committed */
  readonly lastCommitAt?: string
  /** When the newest merged block was merged */
  readonly lastMergeAt?: string
  readonly sequencer?: ExplorerSequencer
  readonly layer1?: ExplorerTip
  readonly wallet?: ExplorerWallet
}

/** The queue before validation; absent if the queue does not respond */
export interface ExplorerQueue {
  /** Submissions that wait for validation */
  readonly transactions: number
  /** Their size in bytes */
  readonly bytes: number
  /** When the oldest one without a first delivery came */
  readonly oldestAt?: string
}

/** What happened in each of the last minutes */
export interface ExplorerRates {
  /** From here on, acceptances and rejections are counted completely */
  readonly since: string
  /** The oldest first */
  readonly minutes: readonly ExplorerMinute[]
  readonly acceptedToCommitted?: ExplorerDelay
  readonly committedToMerged?: ExplorerDelay
}

/** A redeemer */
export interface ExplorerRedeemer {
  /** `spend`, `mint`, `cert`, `reward`, `vote` or `propose` */
  readonly purpose: string
  /** Which item of this purpose it is for */
  readonly index: number
  /** Declared memory units */
  readonly memory: string
  /** Declared CPU steps */
  readonly steps: string
  readonly used?: ExplorerUsedUnits
  /** As in an output; absent if too large */
  readonly json?: unknown
}

/** A script */
export interface ExplorerScript {
  /** Script hash */
  readonly hash: string
  /** `native`, or `PlutusV1` to `PlutusV3` */
  readonly language: string
  /** Size in bytes */
  readonly bytes: number
}

/** What a text names on this node */
export interface ExplorerSearch {
  readonly matches: readonly ExplorerMatch[]
  /** What a text of this form can name; all of it was searched */
  readonly couldBe: readonly (
    | 'transaction'
    | 'block'
    | 'output'
    | 'address'
    | 'asset'
    | 'policy'
    | 'submission'
  )[]
}

/** The process that commits blocks; absent if none does */
export interface ExplorerSequencer {
  /** Name of the process, which changes with each start */
  readonly holder: string
  /** When its lease ends unless it is renewed */
  readonly expiresAt: string
}

/** The transaction that spends it */
export interface ExplorerSpender {
  /** Transaction hash */
  readonly txHash: string
  /** False if it is spent as collateral */
  readonly valid: boolean
}

/** The tip of layer 1; absent if layer 1 does not respond */
export interface ExplorerTip {
  /** Height of the newest block of layer 1 */
  readonly height: number
  /** Its slot */
  readonly slot: string
  /** Time of its slot */
  readonly at: string
}

/** Blocks of a state */
export interface ExplorerTotal {
  /** Blocks */
  readonly blocks: number
  /** Their transactions */
  readonly transactions: number
}

/** Blocks by state, each in one; without removed blocks */
export interface ExplorerTotals {
  readonly built: ExplorerTotal
  readonly submitted: ExplorerTotal
  readonly committed: ExplorerTotal
  readonly mature: ExplorerTotal
  readonly merged: ExplorerTotal
}

/** An accepted transaction */
export interface ExplorerTransaction {
  /** Transaction hash */
  readonly hash: string
  /** When validation accepted it */
  readonly acceptedAt: string
  readonly block?: ExplorerBlock
  /** Its position in the block, from 0 */
  readonly position?: number
  /** Size in bytes */
  readonly bytes: number
  /** Its fee, in lovelace */
  readonly fee: string
  /** False if its scripts failed and it spent its collateral */
  readonly valid: boolean
  /** What it spends if it is valid */
  readonly inputs: readonly ExplorerInput[]
  /** What it only reads */
  readonly referenceInputs: readonly ExplorerInput[]
  /** What it spends if its scripts fail */
  readonly collateralInputs: readonly ExplorerInput[]
  /** What it makes; if its scripts failed, at most the return of its collateral */
  readonly outputs: readonly ExplorerOutput[]
  /** Whether an output without a spender is unspent; false without an index of outputs */
  readonly spendersKnown: boolean
  /** What it mints, or burns; nothing if its scripts failed */
  readonly mint: readonly ExplorerAmount[]
  /** First slot, inclusive */
  readonly validFromSlot?: string
  /** Last slot, exclusive */
  readonly validUntilSlot?: string
  readonly metadata: readonly ExplorerMetadata[]
  readonly datums: readonly ExplorerDatum[]
  /** Scripts among the witnesses */
  readonly scripts: readonly ExplorerScript[]
  readonly redeemers: readonly ExplorerRedeemer[]
  readonly fields: readonly ExplorerField[]
  /** The transaction as submitted */
  readonly cbor: string
}

/** What users of this deployment have to trust */
export interface ExplorerTrust {
  readonly answers: readonly ExplorerTrustAnswer[]
}

/** An answer, and what it comes from */
export interface ExplorerTrustAnswer {
  /** The question */
  readonly risk: 'state-validation' | 'data-availability' | 'exit' | 'sequencer-failure' | 'proposer-failure'
  /** What protects users here, and what does not */
  readonly answer: string
  readonly facts: readonly ExplorerFact[]
}

/** What its script used; absent if it failed, or while it is not measured */
export interface ExplorerUsedUnits {
  /** Used memory units */
  readonly memory: string
  /** Used CPU steps */
  readonly steps: string
}

/** The wallet that pays for commitments; absent if unknown or layer 1 does not respond */
export interface ExplorerWallet {
  /** Bech32 address */
  readonly address: string
  /** Its balance, in lovelace */
  readonly lovelace: string
}

/** A rule that a transaction breaks */
export interface FailedPredicate {
  /** Predicate of the Haskell ledger, such as FeeTooSmallUTxO, or of the layer-2 profile */
  readonly predicate: string
  /** The reason, for people */
  readonly message: string
  /** What is needed to correct the transaction */
  readonly details: {
    readonly [name: string]: unknown
  }
}

/** A field is malformed, or the address cannot be paid */
export interface FaucetAddressError {
  readonly error: string
  readonly code?:
    | 'ADDRESS_INVALID'
    | 'ADDRESS_NETWORK_MISMATCH'
    | 'ADDRESS_NO_PAYMENT_CREDENTIAL'
    | 'ADDRESS_SCRIPT'
}

/** A claim and its payment */
export interface FaucetClaim {
  readonly claimId: string
  /** Id of the funding transaction */
  readonly txHash: string
  /** Lovelace dispensed */
  readonly amount: string
  /** When the address may claim again (ISO 8601) */
  readonly nextEligibleAt: string
  /** The layer that has the payment */
  readonly layer?: number
}

/** The wallet has insufficient funds */
export interface FaucetDepletedError {
  readonly error: string
  readonly code?: 'DEPLETED' | 'OVERLOADED'
}

/** The address claimed too recently, or the IP limit is reached */
export interface FaucetLimitError {
  readonly error: string
  readonly code?: 'COOLDOWN' | 'IP_LIMIT'
  /** Only with COOLDOWN: when the address may claim again (ISO 8601) */
  readonly nextEligibleAt?: string
}

/** The payment failed or its outcome is unknown: try again with the same idempotencyKey */
export interface FaucetPaymentError {
  readonly error: string
  readonly code?: 'VALIDATION_FAILED' | 'INTERNAL'
}

/** The in-memory state is in the log of the server */
export interface GlobalsLogged {
  readonly message: 'Global variables logged!'
}

/** The ten fields of a block header */
export interface Header {
  /** Merkle root of the unspent outputs before the block */
  readonly prev_utxos_root: string
  /** Merkle root of the unspent outputs after the block */
  readonly utxos_root: string
  /** Merkle root of the transactions */
  readonly transactions_root: string
  /** Merkle root of the deposits */
  readonly deposits_root: string
  /** Merkle root of the withdrawals */
  readonly withdrawals_root: string
  /** Start of the block, POSIX milliseconds */
  readonly start_time: number
  /** End of the block, POSIX milliseconds */
  readonly end_time: number
  /** Hash of the previous header; zeros for the first block */
  readonly prev_header_hash: string
  /** Hash of the verification key of the operator that made the block */
  readonly operator_vkey: string
  readonly protocol_version: number
}

/** A page of the transactions of an address */
export interface History {
  /** Oldest first */
  readonly txs: readonly string[]
  readonly limit: number
  readonly offset: number
  /** Whether exactly limit transactions were returned; the next page is at offset + limit */
  readonly hasMore: boolean
}

/** A root unit exists (all fields are present), a reset or init is running, or init is not possible in the present state */
export interface InitConflict {
  readonly error: string
  /** Policy id and asset name of the root unit, in hex */
  readonly rootUnit?: string
  /** Bech32 address of the state queue */
  readonly stateQueueAddress?: string
  /** Number of root units */
  readonly count?: number
  /** Their outputs: <tx_hash>#<output_index> */
  readonly outRefs?: readonly string[]
}

/** The root unit is minted and the genesis is applied */
export interface Initiated {
  /** Initiation successful: <txHash> */
  readonly message: string
  /** The transaction that minted the root unit: 64 hex digits */
  readonly txHash: string
  /** Policy id and asset name of the root unit, in hex */
  readonly rootUnit: string
}

/** The layer-1 provider failed, or the node is overloaded. Retry later */
export interface Layer1Failure {
  readonly status: 'error'
  readonly error: string
  readonly cause:
    | 'timeout'
    | 'rate limited'
    | 'unreachable'
    | 'provider error'
    | 'invalid answer'
    | 'unauthorized'
    | 'wrong network'
    | 'rejected'
    | 'rolled back'
    | 'unknown'
    | 'overloaded'
}

/** The process is up */
export interface Liveness {
  readonly status: 'ok'
}

/** The oldest block is merged, or it is not mature yet */
export type Merged =
  | {
      /** Merging confirmed state successful: <headerHash> */
      readonly message: string
      /** Header hash of the block: 56 hex digits */
      readonly headerHash: string
      /** The layer-1 transaction that merged the block: 64 hex digits */
      readonly txHash: string
    }
  | {
      readonly message: 'Nothing to merge'
    }

/** A proof of Merkle Patricia Forestry, of presence or absence */
export interface MerkleProof {
  /** In the form of Aiken's off-chain library */
  readonly json: readonly ProofStep[]
  /** Plutus data, as validators read it */
  readonly cbor: string
}

/** What a client must know to build transactions for layer 2 */
export interface NetworkInfo {
  /** Name of the network: devnet, preview, preprod or mainnet */
  readonly network: string
  /** In addresses: 1 on mainnet, otherwise 0 */
  readonly networkId: number
  readonly networkMagic: number
  /** The slots of layer 2: the slot at a time is zeroSlot + (time - zeroTime) / slotLength */
  readonly slotClock: {
    /** Start of the slot zeroSlot, in POSIX milliseconds */
    readonly zeroTime: number
    readonly zeroSlot: number
    /** Milliseconds */
    readonly slotLength: number
  }
  /** The protocol parameters of layer 2, under the names of Blockfrost's /epochs/latest/parameters */
  readonly protocolParameters: {
    readonly [name: string]: unknown
  }
  /** The most that layer 2 takes of a transaction, so that each breach can be proven on layer 1 */
  readonly limits?: {
    /** Bytes of a transaction */
    readonly transactionBytes: number
    /** Bytes of the body */
    readonly bodyBytes: number
    /** Bytes of the witness set */
    readonly witnessSetBytes: number
    /** CBOR items of the body: each head counts, those of containers, tags and chunks too */
    readonly bodyItems: number
    /** CBOR items of the witness set */
    readonly witnessSetItems: number
    /** Inputs, of which a reference input counts as two */
    readonly inputs: number
    /** Outputs */
    readonly outputs: number
    /** Key witnesses */
    readonly keyWitnesses: number
    /** Scripts in the witness set */
    readonly scripts: number
    /** Datums in the witness set */
    readonly datums: number
    /** Redeemers */
    readonly redeemers: number
    /** CBOR items of all outputs that inputs and reference inputs name */
    readonly resolvedItems: number
    /** Bytes of these outputs */
    readonly resolvedBytes: number
    /** CBOR items of a native script that the transaction needs */
    readonly nativeScriptItems: number
  }
  /** Time from a block's end until it may be merged, in milliseconds */
  readonly maturityWindow: number
  readonly versions: {
    /** Version of this node */
    readonly node: string
    /** The block version: protocol_version of headers */
    readonly protocol: number
  }
  /** APIs of layer 1 that serve layer 2: an SDK needs only their URL */
  readonly apis: {
    /** Paths of the Blockfrost API by finality, relative to the base address of the node */
    readonly blockfrost: {
      /** Everything that validation has accepted */
      readonly accepted: string
      /** Only blocks in the state queue on layer 1, which a roll-back of layer 1 can undo */
      readonly committed: string
      /** Only blocks in the confirmed state */
      readonly merged: string
    }
    /** Paths of the Kupo API by finality, relative to the base address of the node */
    readonly kupo: {
      /** Everything that validation has accepted */
      readonly accepted: string
      /** Only blocks in the state queue on layer 1, which a roll-back of layer 1 can undo */
      readonly committed: string
      /** Only blocks in the confirmed state */
      readonly merged: string
    }
    /** Paths of the Ogmios API by finality, relative to the base address of the node */
    readonly ogmios: {
      /** Everything that validation has accepted */
      readonly accepted: string
      /** Only blocks in the state queue on layer 1, which a roll-back of layer 1 can undo */
      readonly committed: string
      /** Only blocks in the confirmed state */
      readonly merged: string
    }
  }
}

/** One or more subsystems are not ready */
export interface NotReady {
  readonly status: 'not_ready'
  /** Subsystems that are not ready, in the order of the enum */
  readonly failing: readonly ('database' | 'queue' | 'layer1' | 'index' | 'blocks' | 'watcher')[]
  /** Why, if it is known */
  readonly reasons?: {
    readonly database?: string
    readonly queue?: string
    readonly layer1?: string
    readonly index?: string
    readonly blocks?: string
    readonly watcher?: string
  }
  /** Absent if 0 */
  readonly invalidBlocks?: number
  /** Absent if 0 */
  readonly oldestWaitingMs?: number
}

/** A question on layer 1 that has no answer yet */
export interface OpenQuestion {
  /** Output that holds the question: <tx_hash>#<output_index> */
  readonly question: string
  /** Header hash of the block */
  readonly headerHash: string
  /** A chunk of the transactions; a node of a map with its children; any leaf below a node; an entry */
  readonly kind: 'chunk' | 'subtree' | 'leaf' | 'entry'
  /** The field of the header that commits to the map */
  readonly root: 'utxosRoot' | 'transactionsRoot' | 'depositsRoot' | 'withdrawalsRoot'
  /** Number of the chunk; or a path, and in the last byte how many of its nibbles lead to the node */
  readonly key: string
  /** From then on, the question may become a verdict against the block */
  readonly deadline: string
  /** Lovelace in the output */
  readonly bond: string
}

/** A page of the questions about blocks that have no answer yet */
export interface OpenQuestions {
  /** The earliest deadline first */
  readonly questions: readonly OpenQuestion[]
  /** Whether there is another page */
  readonly hasMore: boolean
}

/** The operators on layer 1 and their turns */
export interface Operators {
  /** Key hash of the operator in turn; absent if none counts in this turn */
  readonly inTurn?: string
  /** Key hash of the operator in the next turn; absent if there is none yet */
  readonly next?: string
  /** When the turn ends */
  readonly turnEndsAt: string
  /** From when on any operator may commit; absent before the state queue is initialised */
  readonly takeOverAt?: string
  /** Length of each turn in milliseconds */
  readonly turnLength: number
  /** In the order of their turns; empty before the registry is initialised */
  readonly operators: readonly RegisteredOperator[]
  /** How many operators the registry can hold */
  readonly maxOperators: number
  /** Whether the administrator admits operators */
  readonly permissioned: boolean
}

/** Withdrawals that were paid */
export interface Payout {
  /** In the order in which they were sent */
  readonly txHashes: readonly string[]
  /** How many withdrawals they pay */
  readonly paid: number
  /** How many are owed still */
  readonly remaining: number
}

/** With a proof that the key is absent; without one if no committed block fits */
export interface ProofOfAbsence {
  /** What went wrong, for people */
  readonly error: string
  /** Hash of the block; zeros for the state before the first block */
  readonly headerHash?: string
  /** Plutus data of the ten header fields; absent before the first block */
  readonly header?: string
  readonly height?: number
  /** The root that the proof leads to: a field of the header */
  readonly root?: string
  /** Key in the map */
  readonly key?: string
  readonly proof?: MerkleProof
}

/** One branch on the path from the root to the key */
export interface ProofStep {
  readonly type: 'branch' | 'fork' | 'leaf'
  /** Length of the prefix, in nibbles */
  readonly skip: number
  /** Of a branch: four hashes */
  readonly neighbors?: string
  /** The only other child: a branch (fork) or a leaf */
  readonly neighbor?: {
    readonly nibble?: number
    /** One nibble in each byte */
    readonly prefix?: string
    /** Merkle root of its children */
    readonly root?: string
    /** Its whole path */
    readonly key?: string
    /** Hash of its value */
    readonly value?: string
  }
}

/** Every subsystem responds */
export interface Ready {
  readonly status: 'ready'
  /** Absent if 0 */
  readonly invalidBlocks?: number
  /** Absent if 0 */
  readonly oldestWaitingMs?: number
}

/** The script of one redeemer: its budget and what it used */
export interface RedeemerReport {
  /** spend, mint, withdraw and so on */
  readonly purpose: string
  /** Position in the ledger's order of this purpose */
  readonly index: number
  /** Succeeded; NotReached if something else failed first; or a failure: ScriptFailure, BudgetExceeded, MalformedScript */
  readonly outcome: string
  readonly declared: ExecutionUnits
  readonly used?: ExecutionUnits
  /** Why the script failed */
  readonly message?: string
  /** Its traces, if it failed */
  readonly logs?: readonly string[]
}

/** The registry has the operator of the node, with the operator's bond */
export interface Registered {
  /** What is the case now */
  readonly message: string
  /** The layer-1 transaction that changed the registry; absent if it was the case before: 64 hex digits */
  readonly txHash?: string
  /** Key hash of the operator: 56 hex digits */
  readonly operatorKey: string
  /** Lovelace of the bond, in decimal digits */
  readonly bond: string
  /** Start of the first turn in which the operator counts */
  readonly activeFrom: string
}

/** An operator in the registry on layer 1 */
export interface RegisteredOperator {
  /** Hash of the verification key */
  readonly operatorKey: string
  /** Lovelace that the registry holds for the operator */
  readonly bond: string
  /** Start of the first turn in which the operator counts */
  readonly activeFrom: string
  /** Start of the first turn without the operator; absent until the operator retires */
  readonly activeUntil?: string
  /** From when on the bond may be withdrawn; absent until the operator retires */
  readonly releaseAt?: string
}

/** A submission was rejected for good; `GET /submission` has all reasons */
export interface RejectedEvent {
  /** Submission id; `dropped-<txHash>…` if an accepted transaction was dropped */
  readonly id: string
  /** Transaction hash; absent if the submission does not decode */
  readonly txHash?: string
  /** Name of the first failed predicate, such as FeeTooSmallUTxO */
  readonly code: string
  /** The reason, for people */
  readonly reason: string
  /** When it was rejected */
  readonly at: string
}

/** The bond is in the operator's wallet; 0: the registry has no bond of the operator */
export interface Released {
  /** What is the case now */
  readonly message: string
  /** The layer-1 transaction that changed the registry; absent if it was the case before: 64 hex digits */
  readonly txHash?: string
  /** Key hash of the operator: 56 hex digits */
  readonly operatorKey: string
  /** Lovelace of the bond, in decimal digits */
  readonly bond: string
}

/** The block is removed from the state queue */
export interface Removed {
  /** Block removal successful: <headerHash> */
  readonly message: string
  /** Header hash of the block: 56 hex digits */
  readonly headerHash: string
  /** The latest of the layer-1 transactions that removed blocks: 64 hex digits */
  readonly txHash: string
  /** Header hashes of all blocks that were removed: the block and those behind it */
  readonly removed: readonly string[]
}

/** The duplicate root units are burned */
export interface Repaired {
  readonly message: 'State-queue root-unit repair completed successfully!'
}

/** The transaction is in the queue again; the dead letter stays and names the new submission */
export interface Replayed {
  /** Id of the new submission */
  readonly id: string
}

/** The state queue and the state of the node are deleted */
export interface Reset {
  readonly message: 'Collected all UTxOs successfully!'
}

/** The operator of the node gets no further turns */
export interface Retired {
  /** What is the case now */
  readonly message: string
  /** The layer-1 transaction that changed the registry; absent if it was the case before: 64 hex digits */
  readonly txHash?: string
  /** Key hash of the operator: 56 hex digits */
  readonly operatorKey: string
  /** Start of the first turn without the operator */
  readonly activeUntil: string
  /** From when on the bond may be withdrawn, unless a verdict slashes it before */
  readonly releaseAt: string
}

/** The root units on layer 1 */
export interface RootUnitDiagnostics {
  /** ok if count is 1, otherwise invalid */
  readonly status: 'ok' | 'invalid'
  /** Whether an operation that changes the root is running */
  readonly resetInProgress: boolean
  /** Bech32 address of the state queue */
  readonly stateQueueAddress: string
  /** Policy id and asset name of the root unit, in hex */
  readonly rootUnit: string
  /** Number of root units */
  readonly count: number
  /** Their outputs: <tx_hash>#<output_index> */
  readonly outRefs: readonly string[]
}

/** The committed blocks that are not merged yet */
export interface StateQueue {
  /** Header hashes of the blocks in the state queue, oldest first */
  readonly headers: readonly string[]
}

/** `unknown`: neither accepted nor rejected here, as far as the node can tell; `queued`: in the queue; `validating`: delivered to validation at least once, without a verdict so far; `mempool`: accepted, in no block; `built`: in a block that is not sent to layer 1; `submitted`: in a block whose layer-1 transaction is sent; `committed`: in a block of the state queue; `mature`: in a block whose maturity window is over; `merged`: in a block of the confirmed state; `removed`: taken out of the ledger, because layer 1 has removed its block or one before it; `rejected`: refused for good, or dropped because no block could hold it */
export type Status =
  | 'unknown'
  | 'queued'
  | 'validating'
  | 'mempool'
  | 'built'
  | 'submitted'
  | 'committed'
  | 'mature'
  | 'merged'
  | 'removed'
  | 'rejected'

/** The block that contains a transaction */
export interface StatusBlock {
  readonly height: number
  /** Header hash */
  readonly headerHash: string
  /** Position of the transaction in the block, from 0, as in a proof */
  readonly position: number
  /** Layer-1 transaction that commits the block; absent if another operator did */
  readonly commitTxHash?: string
  /** Layer-1 transaction that merges the block, once it is signed */
  readonly mergeTxHash?: string
  /** End of the block */
  readonly endTime: string
  /** From when on the block may be merged */
  readonly maturesAt?: string
}

/** A failed predicate of the ledger */
export interface StatusFailure {
  /** Name of the predicate, such as FeeTooSmallUTxO */
  readonly predicate: string
  /** The reason, for people */
  readonly message: string
  /** Details of the failure */
  readonly details?: unknown
}

/** Why a transaction was rejected */
export interface StatusRejection {
  /** Name of the first failed predicate */
  readonly code: string
  /** The reason, for people */
  readonly reason: string
  /** All failed predicates */
  readonly failures: readonly StatusFailure[]
  /** Deliveries to validation */
  readonly attempts: number
  /** Rejected submissions of the same bytes */
  readonly count: number
  /** When the newest of them was submitted */
  readonly submittedAt: string
  /** When the oldest of them was rejected */
  readonly firstRejectedAt: string
  /** When the newest of them was rejected */
  readonly rejectedAt: string
}

/** The removed block that contained a transaction; without height and header hash, the transaction was accepted after the block and in no block */
export interface StatusRemoval {
  /** Of the block */
  readonly height?: number
  /** Header hash */
  readonly headerHash?: string
  /** When the block was removed */
  readonly removedAt: string
  /** Id of the submission by which the node brought it back to the queue */
  readonly resubmittedAs?: string
}

/** The status of a submission */
export interface SubmissionStatus {
  /** The submission id */
  readonly id: string
  /** Transaction hash; absent if the id is unknown, or the submission is no transaction */
  readonly txHash?: string
  readonly status: Status
  /** When validation accepted the transaction */
  readonly acceptedAt?: string
  readonly block?: StatusBlock
  readonly removal?: StatusRemoval
  readonly rejection?: StatusRejection
  /** When it was submitted, while it is queued or validating */
  readonly submittedAt?: string
  /** Deliveries that ended without a verdict, while it is queued or validating */
  readonly attempts?: number
}

/** The transaction is in the queue. Validation follows */
export interface SubmitAnswer {
  readonly message: 'Successfully added the transaction to the queue'
  /** Id of the submission, for `GET /submission`. Opaque, and not the transaction hash */
  readonly id: string
}

/** A question that is on its way to layer 1 */
export interface Summoned {
  /** Output that holds the question: <tx_hash>#<output_index> */
  readonly question: string
  /** Layer-1 transaction that asks */
  readonly txHash: string
  /** From then on, silence is a verdict against the block */
  readonly deadline: string
}

/** A transaction as it was submitted */
export interface Transaction {
  /** CBOR of the transaction */
  readonly tx: string
}

/** A proof that a block applied a transaction. Key: position; value: the record with its hash; root: transactions_root */
export interface TransactionProof extends UtxoProof {
  /** Position in the block, from 0; the key is its 8 bytes */
  readonly position: number
}

/** The status of a transaction */
export interface TransactionStatus {
  /** Transaction hash */
  readonly txHash: string
  readonly status: Status
  /** When validation accepted the transaction */
  readonly acceptedAt?: string
  readonly block?: StatusBlock
  readonly removal?: StatusRemoval
  readonly rejection?: StatusRejection
  /** When it was submitted, while it is queued or validating */
  readonly submittedAt?: string
  /** Deliveries that ended without a verdict, while it is queued or validating */
  readonly attempts?: number
}

/** The statuses of some transactions */
export interface TransactionStatuses {
  /** One for each hash, in their order */
  readonly statuses: readonly TransactionStatus[]
}

/** An unspent output */
export interface Utxo {
  /** CBOR of the output reference: [transaction id, index] */
  readonly outref: string
  /** CBOR of the whole output */
  readonly value: string
}

/** A proof that an output is unspent. Key: output reference; value: output; root: utxos_root */
export interface UtxoProof {
  /** Hash of the block; zeros for the state before the first block */
  readonly headerHash: string
  /** Plutus data of the ten header fields; absent before the first block */
  readonly header?: string
  readonly height?: number
  /** The root that the proof leads to: a field of the header */
  readonly root: string
  /** Key in the map */
  readonly key: string
  /** Value in the map. The map commits to its Blake2b-256 */
  readonly value: string
  readonly proof: MerkleProof
}

/** The unspent outputs of an address */
export interface Utxos {
  readonly utxos: readonly Utxo[]
}

/** What the watcher found about a block has changed */
export interface VerdictEvent {
  /** The state that the verdict has entered, as in `GET /verdicts` */
  readonly state: 'unavailable' | 'valid' | 'invalid' | 'unprovable' | 'removing' | 'removed'
  readonly height: number
  /** Header hash */
  readonly headerHash: string
  /** Hash of the operator's verification key */
  readonly operatorKey: string
  /** The broken rule, or what is missing, for people */
  readonly reason: string
  /** Verdict policy that proves the fraud */
  readonly policy?: string
  /** Name of the fraud in that policy */
  readonly fraud?: string
  /** When it entered the state */
  readonly at: string
}

/** The funds of the wallet that pays for commitments */
export interface WalletBalance {
  /** Lovelace in decimal digits */
  readonly lovelaceBalance: string
}

/** What `getTransactionStatus` asks for. */
export interface GetTransactionStatusParameters {
  /** 64 hex digits */
  readonly tx_hash: string
}

/** What `getTransactionStatuses` asks for. */
export interface GetTransactionStatusesParameters {
  /** Up to 100 transaction hashes, separated by commas */
  readonly tx_hash: string
}

/** What `getSubmissionStatus` asks for. */
export interface GetSubmissionStatusParameters {
  /** Id that `POST /submit` answered */
  readonly id: string
}

/** What `streamEvents` asks for. */
export interface StreamEventsParameters {
  /** Types of events, separated by commas; default all */
  readonly type?: string
  /** Up to 50 transaction hashes, separated by commas: their events and those of their blocks */
  readonly tx_hash?: string
  /** Bech32 address: transactions that spend from or pay to it, and their blocks; nothing else */
  readonly address?: string
  /** Header hash: events and verdicts of this block */
  readonly block?: string
  /** Id of the last event that the client has; `0.0.0` for all events that the node has kept */
  readonly after?: string
}

/** What `getRates` asks for. */
export interface GetRatesParameters {
  /** How many minutes, with the current one */
  readonly minutes?: number
}

/** What `listBlocks` asks for. */
export interface ListBlocksParameters {
  /** Only blocks with a lower height */
  readonly before?: number
  /** The most blocks to answer */
  readonly limit?: number
}

/** What `getBlockDetails` asks for. */
export interface GetBlockDetailsParameters {
  /** How many transactions to skip */
  readonly offset?: number
  /** The most transactions to answer */
  readonly limit?: number
  /** Header hash of 56 hex digits, or height */
  readonly id: string
}

/** What `getTransactionDetails` asks for. */
export interface GetTransactionDetailsParameters {
  /** Transaction hash, 64 hex digits */
  readonly hash: string
}

/** What `getOutput` asks for. */
export interface GetOutputParameters {
  /** `<transaction hash>#<index>`, with `#` as `%23` */
  readonly ref: string
}

/** What `search` asks for. */
export interface SearchParameters {
  /** Hash, height, output reference, address, unit, policy id or submission id */
  readonly q: string
}

/** What `getTransaction` asks for. */
export interface GetTransactionParameters {
  /** 64 hex digits */
  readonly tx_hash: string
}

/** What `listTransactions` asks for. */
export interface ListTransactionsParameters {
  /** Bech32 address of this network with a payment key; the APIs under `/l2` list those of scripts */
  readonly address: string
  /** Values above 500 are clamped to 500 */
  readonly limit?: number
  readonly offset?: number
}

/** What `listUtxos` asks for. */
export interface ListUtxosParameters {
  /** Bech32 address of this network with a payment key; the APIs under `/l2` list those of scripts */
  readonly address: string
}

/** What `listBlockTransactions` asks for. */
export interface ListBlockTransactionsParameters {
  /** 56 hex digits */
  readonly header_hash: string
}

/** What `proveUtxo` asks for. */
export interface ProveUtxoParameters {
  /** `<tx_hash>#<index>`, with `#` as `%23` in a URL, or the CBOR of the output reference in hex */
  readonly outref: string
  /** Which state */
  readonly at?: 'confirmed' | 'committed'
  /** Header hash of a committed block: 56 hex digits */
  readonly header_hash?: string
}

/** What `proveTransaction` asks for. */
export interface ProveTransactionParameters {
  /** 64 hex digits */
  readonly tx_hash: string
  /** Header hash of a committed block: 56 hex digits */
  readonly header_hash?: string
}

/** What `listDeadLetters` asks for. */
export interface ListDeadLettersParameters {
  readonly limit?: number
  /** `before` of the page before */
  readonly before?: string
}

/** What `showDeadLetter` asks for. */
export interface ShowDeadLetterParameters {
  /** Id of the latest submission, as `POST /submit` answered it */
  readonly id: string
}

/** What `dropDeadLetter` asks for. */
export interface DropDeadLetterParameters {
  /** Id of the latest submission, as `POST /submit` answered it */
  readonly id: string
}

/** What `replayDeadLetter` asks for. */
export interface ReplayDeadLetterParameters {
  /** Id of the latest submission, as `POST /submit` answered it */
  readonly id: string
}

/** What `listQuestions` asks for. */
export interface ListQuestionsParameters {
  /** Only questions about this block */
  readonly header_hash?: string
  /** The most to answer */
  readonly limit?: number
  /** How many to skip */
  readonly offset?: number
}

/** What `listVerdicts` asks for. */
export interface ListVerdictsParameters {
  /** Only verdicts in this state */
  readonly state?: 'unavailable' | 'valid' | 'invalid' | 'unprovable' | 'removing' | 'removed'
  /** The most to answer */
  readonly limit?: number
  /** Only verdicts after this one in the list */
  readonly before?: string
}

/** What `summon` asks for. */
export interface SummonParameters {
  /** Header hash of the block */
  readonly headerHash: string
  /** A chunk of the transactions */
  readonly kind: 'chunk'
  /** Its number, from 0 */
  readonly chunk: number
}

/** What `listDeposits` asks for. */
export interface ListDepositsParameters {
  /** Only this one */
  readonly id?: string
  /** Only the one with this output, on layer 1 or on layer 2 */
  readonly outref?: string
  /** Only those of this address on layer 2 */
  readonly address?: string
  /** Only those in this state */
  readonly state?: 'waiting' | 'credited' | 'committed' | 'merged'
  /** The most to answer */
  readonly limit?: number
  /** How many to skip */
  readonly offset?: number
}

/** What `listWithdrawals` asks for. */
export interface ListWithdrawalsParameters {
  /** Only this one */
  readonly outref?: string
  /** Only those to this address on layer 1 */
  readonly address?: string
  /** Only those of this block */
  readonly header_hash?: string
  /** Only those in this state */
  readonly state?: 'accepted' | 'committed' | 'mature' | 'owed' | 'paid'
  /** The most to answer */
  readonly limit?: number
  /** How many to skip */
  readonly offset?: number
}

/** What `draftBridgeTransaction` asks for. */
export interface DraftBridgeTransactionParameters {
  /** A deposit has `to` and `lovelace`; a payout has `outrefs` */
  readonly kind: 'deposit' | 'payout'
  /** Outputs that the transaction may spend, as `getUtxos` of CIP-30 answers them: CBOR in hex of pairs of reference and output */
  readonly utxos: readonly string[]
  /** Bech32, or hex as `getChangeAddress` of CIP-30 answers */
  readonly changeAddress: string
  /** Who gets it on layer 2, in bech32 */
  readonly to?: string
  /** Decimal */
  readonly lovelace?: string
  /** Amounts by unit: policy id and asset name in hex, joined */
  readonly assets?: {
    readonly [name: string]: unknown
  }
  /** Datum of the output on layer 2: CBOR in hex, or the hash of one */
  readonly datum?:
    | {
        readonly inline: string
      }
    | {
        readonly hash: string
      }
  /** Withdrawals of one block, as `GET /withdrawals` names them */
  readonly outrefs?: readonly string[]
}

/** What `submitBridgeTransaction` asks for. */
export interface SubmitBridgeTransactionParameters {
  /** CBOR in hex */
  readonly transaction: string
}

/** What `payWithdrawals` asks for. */
export interface PayWithdrawalsParameters {
  /** Only withdrawals of this block */
  readonly headerHash?: string
  /** The most withdrawals to pay */
  readonly limit?: number
}

/** What `remove` asks for. */
export interface RemoveParameters {
  /** Header hash of the block: 56 hex digits */
  readonly header_hash: string
}

/** What `claim` asks for. */
export interface ClaimParameters {
  /** Bech32 testnet address with a payment key credential */
  readonly address: string
  /** Stable unique key of the claim: sent again, it gets the same result */
  readonly idempotencyKey: string
  /** Identifies the requester's IP address, usually a hash of it */
  readonly ipHash: string
}

/** What `getArchivedBlock` asks for. */
export interface GetArchivedBlockParameters {
  /** A height in decimal digits, or a header hash in 56 hex digits */
  readonly id: string
}

/** What `getArchivedHeader` asks for. */
export interface GetArchivedHeaderParameters {
  /** A height in decimal digits, or a header hash in 56 hex digits */
  readonly id: string
}

/** What `getArchivedBody` asks for. */
export interface GetArchivedBodyParameters {
  /** A height in decimal digits, or a header hash in 56 hex digits */
  readonly id: string
}

/** What `listArchivedBlocks` asks for. */
export interface ListArchivedBlocksParameters {
  /** The first height */
  readonly from: string
  /** The last height, at most 99 above the first */
  readonly to: string
}

/** The operations that answer with JSON. */
export interface Endpoints {
  /** `GET /health/live`: Liveness. Always 200 while the process is up. */
  getLiveness(options?: NodeRequestOptions): Promise<Liveness>

  /** `GET /health/ready`: Readiness of the subsystems that the server depends on. Asks the subsystems concurrently, each with a time limit. */
  getReadiness(options?: NodeRequestOptions): Promise<Ready>

  /** `POST /submit`: Enqueue a signed transaction. A 200 means that the transaction is in the queue. Validation follows: `GET /submission` returns the status by the `id`, `GET /tx/status` by the hash of the transaction body. Submitting the same transaction twice is safe. */
  submit(body: string, options?: NodeRequestOptions): Promise<SubmitAnswer>

  /** `GET /tx/status`: Status of a transaction. For a transaction that was submitted more than once, the most advanced submission counts. The status only moves on, except after a removal, a roll-back of layer 1, or a new submission of a rejected transaction. */
  getTransactionStatus(
    parameters: GetTransactionStatusParameters,
    options?: NodeRequestOptions,
  ): Promise<TransactionStatus>

  /** `GET /tx/statuses`: Statuses of some transactions. The answer of `GET /tx/status` for each of them. */
  getTransactionStatuses(
    parameters: GetTransactionStatusesParameters,
    options?: NodeRequestOptions,
  ): Promise<TransactionStatuses>

  /** `GET /submission`: Status of a submission. A rejected submission stays rejected, unless it lost an input to a transaction that the ledger has undone since: the node submits it again. Then, and once accepted, it has the status of its transaction. */
  getSubmissionStatus(
    parameters: GetSubmissionStatusParameters,
    options?: NodeRequestOptions,
  ): Promise<SubmissionStatus>

  /** `GET /explorer/overview`: What the node does now. Queue, mempool, blocks by state, the newest commit and merge, the sequencer, layer 1 and the wallet. All readers share an answer for half a second. What could not be measured is absent. */
  getOverview(options?: NodeRequestOptions): Promise<ExplorerOverview>

  /** `GET /explorer/rates`: Transactions per minute, and how long they took. Acceptances and rejections are counted by this process, from the newest 20,000 at its start; a minute that is not counted completely has no number. The oldest minute comes first. */
  getRates(parameters?: GetRatesParameters, options?: NodeRequestOptions): Promise<ExplorerRates>

  /** `GET /explorer/blocks`: Blocks with their times, the newest first. Without removed blocks. Bytes and fees of a block are absent until the node has summed them: an answer sums 10,000 transactions at most, and the next one goes on. */
  listBlocks(parameters?: ListBlocksParameters, options?: NodeRequestOptions): Promise<ExplorerBlocks>

  /** `GET /explorer/block/{id}`: A block with its times, header and transactions. By its header hash in any state, by its height unless it is removed. A removed block has no transactions. */
  getBlockDetails(
    parameters: GetBlockDetailsParameters,
    options?: NodeRequestOptions,
  ): Promise<ExplorerBlockDetails>

  /** `GET /explorer/tx/{hash}`: An accepted transaction, decoded. The first 100 inputs are resolved, as far as their outputs have 256 KiB of CBOR together. Datums, redeemers and metadata are JSON up to 64 KiB of CBOR together. */
  getTransactionDetails(
    parameters: GetTransactionDetailsParameters,
    options?: NodeRequestOptions,
  ): Promise<ExplorerTransaction>

  /** `GET /explorer/output/{ref}`: An output, who made it and who spent it. One step of the lineage in each direction. An output of the genesis has no maker, an unspent one no spender. */
  getOutput(parameters: GetOutputParameters, options?: NodeRequestOptions): Promise<ExplorerLineage>

  /** `GET /explorer/search`: What a text names on this node. Searches what a text of this form can name. Without matches, `couldBe` says what was searched. */
  search(parameters: SearchParameters, options?: NodeRequestOptions): Promise<ExplorerSearch>

  /** `GET /explorer/trust`: What users of this deployment have to trust. Five answers, each with the settings and facts that it comes from; none if this process does not know the contracts. */
  getTrust(options?: NodeRequestOptions): Promise<ExplorerTrust>

  /** `GET /tx`: Transaction by hash. Searches the mempool first, then blocks. */
  getTransaction(parameters: GetTransactionParameters, options?: NodeRequestOptions): Promise<Transaction>

  /** `GET /txs`: Transactions of an address. Every transaction that spends from or pays to the address, once, the oldest first. Pages do not shift while new transactions arrive. */
  listTransactions(parameters: ListTransactionsParameters, options?: NodeRequestOptions): Promise<History>

  /** `GET /utxos`: Unspent outputs of an address with a payment key. As the mempool ledger has them: confirmed outputs, without those that pending transactions spend, with those that they produce. */
  listUtxos(parameters: ListUtxosParameters, options?: NodeRequestOptions): Promise<Utxos>

  /** `GET /block`: Transaction hashes of a block. Of a block in the state queue or the confirmed state. An unknown header hash, and that of a removed block, has no transactions. */
  listBlockTransactions(
    parameters: ListBlockTransactionsParameters,
    options?: NodeRequestOptions,
  ): Promise<BlockTransactions>

  /** `POST /evaluate`: Validate a transaction without submitting it. Applies the rules that validation applies, to the mempool ledger as it is now, and changes nothing. A later submission can end otherwise, because the ledger changes. */
  evaluate(body: string, options?: NodeRequestOptions): Promise<Evaluation>

  /** `GET /network`: What a client must know to build transactions for layer 2. Network id, slot clock, protocol parameters of layer 2, and where the other APIs are. */
  getNetwork(options?: NodeRequestOptions): Promise<NetworkInfo>

  /** `GET /proofs/utxo`: Prove that an output is unspent after a block, or that it is not. With `at`, after the newest block that is merged (`confirmed`, the default) or in the state queue (`committed`); with `header_hash`, after that block. Verify the proof with the header, and the header by its hash on layer 1: the node need not be trusted. */
  proveUtxo(parameters: ProveUtxoParameters, options?: NodeRequestOptions): Promise<UtxoProof>

  /** `GET /proofs/transaction`: Prove that a block applied a transaction, or that it did not. Of the block that holds the transaction; with `header_hash`, of that block. Absence is shown for the first output of the transaction, which its block would have recorded. */
  proveTransaction(
    parameters: ProveTransactionParameters,
    options?: NodeRequestOptions,
  ): Promise<TransactionProof>

  /** `GET /deadLetters`: List rejected transactions, newest first. One entry for the same bytes, however often they were submitted. */
  listDeadLetters(
    parameters?: ListDeadLettersParameters,
    options?: NodeRequestOptions,
  ): Promise<DeadLetterPage>

  /** `GET /deadLetters/{id}`: Show a rejected transaction. With its bytes, as long as these are kept, and all failed predicates. */
  showDeadLetter(parameters: ShowDeadLetterParameters, options?: NodeRequestOptions): Promise<DeadLetter>

  /** `DELETE /deadLetters/{id}`: Remove a dead letter. The node forgets it, its reason included. */
  dropDeadLetter(parameters: DropDeadLetterParameters, options?: NodeRequestOptions): Promise<void>

  /** `POST /deadLetters/{id}/replay`: Submit a rejected transaction again. The dead letter stays and names the new submission. */
  replayDeadLetter(parameters: ReplayDeadLetterParameters, options?: NodeRequestOptions): Promise<Replayed>

  /** `GET /stateQueue`: Committed block headers on layer 1. Also draws the state queue in the log of the server: at debug, and at info when it has changed. */
  getStateQueue(options?: NodeRequestOptions): Promise<StateQueue>

  /** `GET /stateQueue/root-unit-diagnostics`: Health of the root unit. A healthy state queue has exactly one root unit. */
  getRootUnitDiagnostics(options?: NodeRequestOptions): Promise<RootUnitDiagnostics>

  /** `GET /stateQueue/repair-root-units`: Burn duplicate root units. Changes state although it is a GET. Run /init once afterwards. HEAD is not served. */
  repairRootUnits(options?: NodeRequestOptions): Promise<Repaired>

  /** `GET /commitment-wallet/balance`: Balance of the commitment wallet. The wallet pays the layer-1 transactions that commit and merge blocks. */
  getCommitmentWalletBalance(options?: NodeRequestOptions): Promise<WalletBalance>

  /** `GET /operators`: Operators, their bonds and turns. Read from the operator registry on layer 1. */
  listOperators(options?: NodeRequestOptions): Promise<Operators>

  /** `GET /summons`: Open questions about blocks on layer 1. All readers share a list for half a second. It has about 10,000 questions at most: those whose deadlines come first. */
  listQuestions(parameters?: ListQuestionsParameters, options?: NodeRequestOptions): Promise<OpenQuestions>

  /** `GET /verdicts`: Invalid blocks that the node found, and their removals. Newest first. Pass the `headerHash` of the last one as `before` for the next page. */
  listVerdicts(parameters?: ListVerdictsParameters, options?: NodeRequestOptions): Promise<BlockVerdicts>

  /** `POST /summon`: Ask the operator of a block for its body, on layer 1. For blocks whose body no peer serves: the watcher of this process asks for a chunk of it now, within its hourly budget, and then goes on as if its patience were over. It locks 2.5 ada until the answer. */
  summon(parameters: SummonParameters, options?: NodeRequestOptions): Promise<Summoned>

  /** `GET /bridge`: The bridge: its terms, its treasury and what it owes. */
  getBridge(options?: NodeRequestOptions): Promise<Bridge>

  /** `GET /deposits`: Deposits, and how far they are. Those whose output is at the bridge; with `id`, also one whose output there is spent. */
  listDeposits(parameters?: ListDepositsParameters, options?: NodeRequestOptions): Promise<BridgeDeposits>

  /** `GET /withdrawals`: Withdrawals, and how far they are. */
  listWithdrawals(
    parameters?: ListWithdrawalsParameters,
    options?: NodeRequestOptions,
  ): Promise<BridgeWithdrawals>

  /** `POST /bridge/draft`: Draft a deposit, or a payout of withdrawals, for any wallet to sign. The wallet signs what it gets, so check it first. A deposit is valid for a short time only: the block of the time `eventWaitMs` after the end of its validity credits it. */
  draftBridgeTransaction(
    parameters: DraftBridgeTransactionParameters,
    options?: NodeRequestOptions,
  ): Promise<BridgeDraft>

  /** `POST /bridge/submit`: Send a signed transaction of the bridge to layer 1. */
  submitBridgeTransaction(
    parameters: SubmitBridgeTransactionParameters,
    options?: NodeRequestOptions,
  ): Promise<BridgeSubmitted>

  /** `POST /payout`: Pay withdrawals of merged blocks now. The node pays unasked too, unless AUTO_PAY is false. */
  payWithdrawals(parameters?: PayWithdrawalsParameters, options?: NodeRequestOptions): Promise<Payout>

  /** `GET /init`: Mint the root unit and run the genesis programs. Changes state although it is a GET. HEAD is not served. */
  init(options?: NodeRequestOptions): Promise<Initiated>

  /** `GET /commit`: Run one block-commitment cycle. Changes state although it is a GET. HEAD is not served. */
  commit(options?: NodeRequestOptions): Promise<Committed>

  /** `GET /merge`: Merge the oldest block into the confirmed state. Changes state although it is a GET. HEAD is not served. */
  merge(options?: NodeRequestOptions): Promise<Merged>

  /** `GET /reset`: Delete the state queue and the state of the node. Changes state although it is a GET. HEAD is not served. */
  reset(options?: NodeRequestOptions): Promise<Reset>

  /** `GET /remove`: Remove an unmerged block, and those behind it, from the state queue. Changes state although it is a GET. HEAD is not served. */
  remove(parameters: RemoveParameters, options?: NodeRequestOptions): Promise<Removed>

  /** `POST /operator/register`: Deposit the bond and register the operator of the node. The administrator of a permissioned registry signs as well: the node needs its keys. */
  registerOperator(options?: NodeRequestOptions): Promise<Registered>

  /** `POST /operator/retire`: End the turns of the operator of the node. The turn in progress and the next stay as they are. */
  retireOperator(options?: NodeRequestOptions): Promise<Retired>

  /** `POST /operator/release`: Withdraw the bond of the retired operator to its wallet. `releaseAt` of `GET /operators` says from when on. */
  releaseBond(options?: NodeRequestOptions): Promise<Released>

  /** `GET /logBlocksTxsDB`: Log the number of transactions of each block. The answer does not contain the table. */
  logBlocksTxsDB(options?: NodeRequestOptions): Promise<BlocksLogged>

  /** `GET /logGlobals`: Log the in-memory state. The answer does not contain the state. Secrets are not logged. */
  logGlobals(options?: NodeRequestOptions): Promise<GlobalsLogged>

  /** `POST /faucet/claims`: Claim testnet ada. Requires `Authorization: Bearer <token>`. */
  claim(parameters: ClaimParameters, options?: NodeRequestOptions): Promise<FaucetClaim>

  /** `GET /archivist/block/{id}`: Block by height or hash. JSON, or CBOR if `Accept` prefers `application/cbor`. */
  getArchivedBlock(
    parameters: GetArchivedBlockParameters,
    options?: NodeRequestOptions,
  ): Promise<ArchivedBlock>

  /** `GET /archivist/block/{id}/header`: Header by height or hash. JSON, or CBOR if `Accept` prefers `application/cbor`. */
  getArchivedHeader(
    parameters: GetArchivedHeaderParameters,
    options?: NodeRequestOptions,
  ): Promise<ArchivedHeader>

  /** `GET /archivist/block/{id}/body`: Body by height or hash. JSON, or CBOR if `Accept` prefers `application/cbor`. */
  getArchivedBody(parameters: GetArchivedBodyParameters, options?: NodeRequestOptions): Promise<ArchivedBody>

  /** `GET /archivist/blocks`: Blocks of a range of heights. At most 100 blocks. JSON, or CBOR if `Accept` prefers `application/cbor`. */
  listArchivedBlocks(
    parameters: ListArchivedBlocksParameters,
    options?: NodeRequestOptions,
  ): Promise<ArchivedBlocks>
}

/** An operation of the document. */
export interface Operation {
  readonly method: string
  readonly path: string
  /** It changes nothing, so that it may be sent again. */
  readonly isRead?: boolean
  /** It has parameters or a body. */
  readonly takesInput?: boolean
  /** Media type of the body. */
  readonly body?: string
  /** The option with its bearer token. */
  readonly token?: 'operatorToken' | 'faucetToken'
  /** Fields that its answer has. */
  readonly answer?: readonly string[]
}

/** Every operation, by its id. */
export const operations = {
  getLiveness: { method: 'GET', path: '/health/live', isRead: true, answer: ['status'] },
  getReadiness: { method: 'GET', path: '/health/ready', isRead: true, answer: ['status'] },
  submit: {
    method: 'POST',
    path: '/submit',
    takesInput: true,
    body: 'text/plain',
    answer: ['message', 'id'],
  },
  getTransactionStatus: {
    method: 'GET',
    path: '/tx/status',
    isRead: true,
    takesInput: true,
    answer: ['txHash', 'status'],
  },
  getTransactionStatuses: {
    method: 'GET',
    path: '/tx/statuses',
    isRead: true,
    takesInput: true,
    answer: ['statuses'],
  },
  getSubmissionStatus: {
    method: 'GET',
    path: '/submission',
    isRead: true,
    takesInput: true,
    answer: ['id', 'status'],
  },
  streamEvents: { method: 'GET', path: '/events', isRead: true, takesInput: true },
  getOverview: {
    method: 'GET',
    path: '/explorer/overview',
    isRead: true,
    answer: ['at', 'version', 'role', 'network', 'mempool', 'blocks'],
  },
  getRates: {
    method: 'GET',
    path: '/explorer/rates',
    isRead: true,
    takesInput: true,
    answer: ['since', 'minutes'],
  },
  listBlocks: { method: 'GET', path: '/explorer/blocks', isRead: true, takesInput: true, answer: ['blocks'] },
  getBlockDetails: {
    method: 'GET',
    path: '/explorer/block/{id}',
    isRead: true,
    takesInput: true,
    answer: ['block', 'header', 'transactions', 'offset'],
  },
  getTransactionDetails: {
    method: 'GET',
    path: '/explorer/tx/{hash}',
    isRead: true,
    takesInput: true,
    answer: [
      'hash',
      'acceptedAt',
      'bytes',
      'fee',
      'valid',
      'inputs',
      'referenceInputs',
      'collateralInputs',
      'outputs',
      'spendersKnown',
      'mint',
      'metadata',
      'datums',
      'scripts',
      'redeemers',
      'fields',
      'cbor',
    ],
  },
  getOutput: {
    method: 'GET',
    path: '/explorer/output/{ref}',
    isRead: true,
    takesInput: true,
    answer: ['output'],
  },
  search: {
    method: 'GET',
    path: '/explorer/search',
    isRead: true,
    takesInput: true,
    answer: ['matches', 'couldBe'],
  },
  getTrust: { method: 'GET', path: '/explorer/trust', isRead: true, answer: ['answers'] },
  getTransaction: { method: 'GET', path: '/tx', isRead: true, takesInput: true, answer: ['tx'] },
  listTransactions: {
    method: 'GET',
    path: '/txs',
    isRead: true,
    takesInput: true,
    answer: ['txs', 'limit', 'offset', 'hasMore'],
  },
  listUtxos: { method: 'GET', path: '/utxos', isRead: true, takesInput: true, answer: ['utxos'] },
  listBlockTransactions: {
    method: 'GET',
    path: '/block',
    isRead: true,
    takesInput: true,
    answer: ['hashes'],
  },
  evaluate: {
    method: 'POST',
    path: '/evaluate',
    takesInput: true,
    body: 'text/plain',
    answer: ['verdict', 'failures', 'redeemers', 'slot'],
  },
  getNetwork: {
    method: 'GET',
    path: '/network',
    isRead: true,
    answer: [
      'network',
      'networkId',
      'networkMagic',
      'slotClock',
      'protocolParameters',
      'maturityWindow',
      'versions',
      'apis',
    ],
  },
  proveUtxo: {
    method: 'GET',
    path: '/proofs/utxo',
    isRead: true,
    takesInput: true,
    answer: ['headerHash', 'root', 'key', 'value', 'proof'],
  },
  proveTransaction: {
    method: 'GET',
    path: '/proofs/transaction',
    isRead: true,
    takesInput: true,
    answer: ['headerHash', 'root', 'key', 'value', 'proof', 'position'],
  },
  listDeadLetters: {
    method: 'GET',
    path: '/deadLetters',
    isRead: true,
    takesInput: true,
    token: 'operatorToken',
    answer: ['deadLetters'],
  },
  showDeadLetter: {
    method: 'GET',
    path: '/deadLetters/{id}',
    isRead: true,
    takesInput: true,
    token: 'operatorToken',
    answer: ['id', 'digest', 'code', 'reason', 'attempts', 'count', 'submittedAt', 'rejectedAt', 'details'],
  },
  dropDeadLetter: { method: 'DELETE', path: '/deadLetters/{id}', takesInput: true, token: 'operatorToken' },
  replayDeadLetter: {
    method: 'POST',
    path: '/deadLetters/{id}/replay',
    takesInput: true,
    token: 'operatorToken',
    answer: ['id'],
  },
  getStateQueue: { method: 'GET', path: '/stateQueue', isRead: true, answer: ['headers'] },
  getRootUnitDiagnostics: {
    method: 'GET',
    path: '/stateQueue/root-unit-diagnostics',
    isRead: true,
    answer: ['status', 'resetInProgress', 'stateQueueAddress', 'rootUnit', 'count', 'outRefs'],
  },
  repairRootUnits: {
    method: 'GET',
    path: '/stateQueue/repair-root-units',
    token: 'operatorToken',
    answer: ['message'],
  },
  getCommitmentWalletBalance: {
    method: 'GET',
    path: '/commitment-wallet/balance',
    isRead: true,
    answer: ['lovelaceBalance'],
  },
  listOperators: {
    method: 'GET',
    path: '/operators',
    isRead: true,
    answer: ['turnEndsAt', 'turnLength', 'operators', 'maxOperators', 'permissioned'],
  },
  listQuestions: {
    method: 'GET',
    path: '/summons',
    isRead: true,
    takesInput: true,
    answer: ['questions', 'hasMore'],
  },
  listVerdicts: {
    method: 'GET',
    path: '/verdicts',
    isRead: true,
    takesInput: true,
    answer: ['verdicts', 'hasMore'],
  },
  summon: {
    method: 'POST',
    path: '/summon',
    takesInput: true,
    body: 'application/json',
    token: 'operatorToken',
    answer: ['question', 'txHash', 'deadline'],
  },
  getBridge: {
    method: 'GET',
    path: '/bridge',
    isRead: true,
    answer: [
      'address',
      'policies',
      'assets',
      'eventWaitMs',
      'payoutFee',
      'reserveMin',
      'treasury',
      'settlements',
    ],
  },
  listDeposits: {
    method: 'GET',
    path: '/deposits',
    isRead: true,
    takesInput: true,
    answer: ['deposits', 'hasMore'],
  },
  listWithdrawals: {
    method: 'GET',
    path: '/withdrawals',
    isRead: true,
    takesInput: true,
    answer: ['withdrawals', 'hasMore'],
  },
  draftBridgeTransaction: {
    method: 'POST',
    path: '/bridge/draft',
    takesInput: true,
    body: 'application/json',
    answer: ['transaction', 'txHash', 'fee'],
  },
  submitBridgeTransaction: {
    method: 'POST',
    path: '/bridge/submit',
    takesInput: true,
    body: 'application/json',
    answer: ['txHash'],
  },
  payWithdrawals: {
    method: 'POST',
    path: '/payout',
    takesInput: true,
    body: 'application/json',
    token: 'operatorToken',
    answer: ['txHashes', 'paid', 'remaining'],
  },
  init: { method: 'GET', path: '/init', token: 'operatorToken', answer: ['message', 'txHash', 'rootUnit'] },
  commit: { method: 'GET', path: '/commit', token: 'operatorToken', answer: ['message', 'transactions'] },
  merge: { method: 'GET', path: '/merge', token: 'operatorToken', answer: ['message'] },
  reset: { method: 'GET', path: '/reset', token: 'operatorToken', answer: ['message'] },
  remove: {
    method: 'GET',
    path: '/remove',
    takesInput: true,
    token: 'operatorToken',
    answer: ['message', 'headerHash', 'txHash', 'removed'],
  },
  registerOperator: {
    method: 'POST',
    path: '/operator/register',
    token: 'operatorToken',
    answer: ['message', 'operatorKey', 'bond', 'activeFrom'],
  },
  retireOperator: {
    method: 'POST',
    path: '/operator/retire',
    token: 'operatorToken',
    answer: ['message', 'operatorKey', 'activeUntil', 'releaseAt'],
  },
  releaseBond: {
    method: 'POST',
    path: '/operator/release',
    token: 'operatorToken',
    answer: ['message', 'operatorKey', 'bond'],
  },
  logBlocksTxsDB: {
    method: 'GET',
    path: '/logBlocksTxsDB',
    isRead: true,
    token: 'operatorToken',
    answer: ['message'],
  },
  logGlobals: {
    method: 'GET',
    path: '/logGlobals',
    isRead: true,
    token: 'operatorToken',
    answer: ['message'],
  },
  claim: {
    method: 'POST',
    path: '/faucet/claims',
    takesInput: true,
    body: 'application/json',
    token: 'faucetToken',
    answer: ['claimId', 'txHash', 'amount', 'nextEligibleAt'],
  },
  getArchivedBlock: {
    method: 'GET',
    path: '/archivist/block/{id}',
    isRead: true,
    takesInput: true,
    answer: ['hash', 'height', 'header', 'body'],
  },
  getArchivedHeader: {
    method: 'GET',
    path: '/archivist/block/{id}/header',
    isRead: true,
    takesInput: true,
    answer: ['hash', 'height', 'header'],
  },
  getArchivedBody: {
    method: 'GET',
    path: '/archivist/block/{id}/body',
    isRead: true,
    takesInput: true,
    answer: ['hash', 'height', 'body'],
  },
  listArchivedBlocks: {
    method: 'GET',
    path: '/archivist/blocks',
    isRead: true,
    takesInput: true,
    answer: ['blocks'],
  },
} as const satisfies Readonly<Record<string, Operation>>
