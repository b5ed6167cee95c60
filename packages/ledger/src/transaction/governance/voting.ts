import {
  type CborReader,
  nonEmpty,
  readMapOf,
  readNullable,
  readRecord,
  readVariant,
  type Variants,
} from '@ratatosk/cbor'
import type { VotingProcedure } from '../types.js'
import { credentialKey, readAnchor, readGovernanceActionId, readHash28 } from './primitives.js'

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
