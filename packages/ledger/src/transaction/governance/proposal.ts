import {
  type CborReader,
  nonEmpty,
  readMapOf,
  readNullable,
  readRecord,
  readSet,
  readVariant,
  toHex,
  type Variants,
} from '@ratatosk/cbor'
import type { ProposalProcedure, VotingProcedure } from '../types.js'
import { readParameterUpdate } from './parameter-update.js'
import {
  credentialKey,
  readAnchor,
  readCredential,
  readGovernanceActionId,
  readHash28,
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
