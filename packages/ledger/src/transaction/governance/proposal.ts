import {
  type CborReader,
  located,
  nonEmpty,
  readList,
  readMapOf,
  readNullable,
  readRecord,
  readSet,
  readVariant,
  toHex,
  type Variants,
} from '@ratatosk/cbor'
import type { ProposalProcedure, VotingProcedure } from '../types.js'
import {
  credentialKey,
  readAnchor,
  readCredential,
  readGovernanceActionId,
  readHash28,
  readNonNegativeInterval,
  readRewardAddress,
  readUnitInterval,
} from './primitives.js'

/** The highest major ledger version that this decoder accepts in a hard fork proposal. */
const maxMajorVersion = 12

/** Decodes `[deposit, return account, action, anchor]`. The kind is the name of the action in the CDDL. */
export function readProposalProcedure(reader: CborReader): ProposalProcedure {
  const start = reader.position
  const fields = readRecord(reader, 4, (inner) => {
    const deposit = inner.readUint64()
    const returnAccount = readRewardAddress(inner)
    const action = readVariant(inner, 'a governance action', actionVariants)
    readAnchor(inner)
    return { ...action, deposit, returnAccount }
  })
  return { ...fields, bytes: reader.since(start) }
}

type Action = Pick<ProposalProcedure, 'kind' | 'policyHash'>

const actionVariants: Variants<Action> = [
  [
    4,
    (reader) => {
      readNullable(reader, readGovernanceActionId)
      readParameterUpdate(reader)
      return { kind: 'parameter_change_action', ...readPolicy(reader) }
    },
  ],
  [
    3,
    (reader) => {
      readNullable(reader, readGovernanceActionId)
      readRecord(reader, 2, readLedgerVersion)
      return { kind: 'hard_fork_initiation_action' }
    },
  ],
  [
    3,
    (reader) => {
      readMapOf(reader, readAccountKey, (lovelace) => lovelace.readUint64())
      return { kind: 'treasury_withdrawals_action', ...readPolicy(reader) }
    },
  ],
  [
    2,
    (reader) => {
      readNullable(reader, readGovernanceActionId)
      return { kind: 'no_confidence' }
    },
  ],
  [
    5,
    (reader) => {
      readNullable(reader, readGovernanceActionId)
      readSet(reader, readCredential, credentialKey) // removed members
      readMapOf(reader, readMemberKey, (epoch) => epoch.readUint64()) // added members and their last epochs
      readUnitInterval(reader) // quorum
      return { kind: 'update_committee' }
    },
  ],
  [
    3,
    (reader) => {
      readNullable(reader, readGovernanceActionId)
      readRecord(reader, 2, readConstitution)
      return { kind: 'new_constitution' }
    },
  ],
  [1, () => ({ kind: 'info_action' })],
]

function readLedgerVersion(reader: CborReader): void {
  reader.readUint(maxMajorVersion)
  reader.readUint(0xffff_ffff)
}

function readConstitution(reader: CborReader): void {
  readAnchor(reader)
  readNullable(reader, readHash28)
}

function readAccountKey(reader: CborReader): string {
  return toHex(readRewardAddress(reader).bytes)
}

function readMemberKey(reader: CborReader): string {
  return credentialKey(readCredential(reader))
}

/** The guardrails script, or null. */
function readPolicy(reader: CborReader): { readonly policyHash?: Uint8Array } {
  const policyHash = readNullable(reader, readHash28)
  return policyHash === undefined ? {} : { policyHash }
}

type Voter = VotingProcedure['voter']

const voterVariants: Variants<Voter> = [
  [2, (reader) => ({ role: 'committee', credential: { kind: 'key', hash: readHash28(reader) } })],
  [2, (reader) => ({ role: 'committee', credential: { kind: 'script', hash: readHash28(reader) } })],
  [2, (reader) => ({ role: 'drep', credential: { kind: 'key', hash: readHash28(reader) } })],
  [2, (reader) => ({ role: 'drep', credential: { kind: 'script', hash: readHash28(reader) } })],
  [2, (reader) => ({ role: 'pool', credential: { kind: 'key', hash: readHash28(reader) } })],
]

/** Decodes the votes of each voter: a non-empty map of maps. `bytes` of a result is the inner map. */
export function readVotingProcedures(reader: CborReader): VotingProcedure[] {
  let voter: Voter
  const procedures = readMapOf(
    reader,
    (inner) => {
      voter = readVariant(inner, 'a voter', voterVariants)
      return `${voter.role} ${credentialKey(voter.credential)}`
    },
    (inner) => {
      const start = inner.position
      nonEmpty(inner, start, readMapOf(inner, readGovernanceActionId, readVote))
      return { voter, bytes: inner.since(start) }
    },
  )
  return [...procedures.values()]
}

/** `[vote, anchor / null]`, where 0 is no, 1 is yes and 2 is abstain. */
function readVote(reader: CborReader): void {
  readRecord(reader, 2, (inner) => {
    inner.readUint(2)
    readNullable(inner, readAnchor)
  })
}

const maxInt64 = 2n ** 63n - 1n

/** The fields of a parameter update (CDDL `protocol_param_update`), by number. */
const fields = new Map<number, (reader: CborReader) => unknown>([
  [0, readLovelace], // min_fee_a
  [1, readLovelace], // min_fee_b
  [2, readWord32], // max_block_body_size
  [3, readWord32], // max_tx_size
  [4, readWord16], // max_block_header_size
  [5, readLovelace], // key_deposit
  [6, readLovelace], // pool_deposit
  [7, readWord32], // e_max
  [8, readWord16], // n_opt
  [9, readNonNegativeInterval], // a0
  [10, readUnitInterval], // rho
  [11, readUnitInterval], // tau
  [16, readLovelace], // min_pool_cost
  [17, readLovelace], // coins_per_utxo_byte
  [18, readCostModels],
  [19, (reader) => readEach(reader, 2, readNonNegativeInterval)], // prices
  [20, readExecutionUnits], // max_tx_ex_units
  [21, readExecutionUnits], // max_block_ex_units
  [22, readWord32], // max_val_size
  [23, readWord16], // collateral_percentage
  [24, readWord16], // max_collateral_inputs
  [25, (reader) => readEach(reader, 5, readUnitInterval)], // pool_voting_thresholds
  [26, (reader) => readEach(reader, 10, readUnitInterval)], // drep_voting_thresholds
  [27, readWord16], // committee_min_size
  [28, readWord32], // committee_max_term_length
  [29, readWord32], // gov_action_lifetime
  [30, readLovelace], // gov_action_deposit
  [31, readLovelace], // drep_deposit
  [32, readWord32], // drep_activity
  [33, readNonNegativeInterval], // min_fee_ref_script_cost_per_byte
])

/** Validates the structure of a parameter update. The GOV rule validates its content. */
function readParameterUpdate(reader: CborReader): void {
  const count = reader.readMap()
  const seen = new Set<number>()
  for (let index = 0; reader.hasNext(count, index); index++) {
    const start = reader.position
    const key = reader.readUint()
    const readField = fields.get(key)
    if (readField === undefined) throw reader.error('CBOR_UNKNOWN_FIELD', `unknown parameter ${key}`, start)
    if (seen.has(key)) throw reader.error('CBOR_DUPLICATE', `a repeated parameter ${key}`, start)
    seen.add(key)
    try {
      readField(reader)
    } catch (error) {
      throw located(error, `[${key}]`)
    }
  }
}

/** Decodes `[memory, steps]`. Each must fit a signed 64-bit integer. */
export function readExecutionUnits(reader: CborReader): { readonly memory: bigint; readonly steps: bigint } {
  return readRecord(reader, 2, (inner) => ({ memory: readUnits(inner), steps: readUnits(inner) }))
}

function readUnits(reader: CborReader): bigint {
  const start = reader.position
  const units = reader.readUint64()
  if (units > maxInt64) throw reader.error('CBOR_OUT_OF_RANGE', 'execution units over 63 bits', start)
  return units
}

/** Language number → list of signed 64-bit integers. Models of known languages are validated at use. */
function readCostModels(reader: CborReader): void {
  readMapOf(
    reader,
    (inner) => inner.readUint(0xff),
    (inner) => readList(inner, (item) => item.readInt64()),
  )
}

function readLovelace(reader: CborReader): bigint {
  return reader.readUint64()
}

function readWord32(reader: CborReader): number {
  return reader.readUint(0xffff_ffff)
}

function readWord16(reader: CborReader): number {
  return reader.readUint(0xffff)
}

function readEach(reader: CborReader, size: number, readItem: (reader: CborReader) => unknown): void {
  readRecord(reader, size, (inner) => {
    for (let index = 0; index < size; index++) readItem(inner)
  })
}
