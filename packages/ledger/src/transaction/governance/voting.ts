import type { CborReader } from '../../cbor/reader.js'
import { nonEmpty, readMapOf, readNullable, readRecord, readVariant } from '../../cbor/structure.js'
import type { VotingProcedure } from '../types.js'
import { credentialKey, readAnchor, readGovernanceActionId, readHash28 } from './primitives.js'

type Voter = VotingProcedure['voter']

const roles = [
  ['committee', 'key'],
  ['committee', 'script'],
  ['drep', 'key'],
  ['drep', 'script'],
  ['pool', 'key'],
] as const

/** The votes of each voter: a map of maps, neither of them empty. `bytes` of a result are the inner map. */
export function readVotingProcedures(reader: CborReader): VotingProcedure[] {
  let voter: Voter
  const procedures = readMapOf(
    reader,
    (inner) => {
      voter = readVoter(inner)
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

function readVoter(reader: CborReader): Voter {
  return readVariant(reader, (inner, variant) => {
    const kind = roles[variant]
    if (kind === undefined) throw inner.error('unknown-variant', `a voter of kind ${variant}`)
    return [2, { role: kind[0], credential: { kind: kind[1], hash: readHash28(inner) } }]
  })
}

/** `[no, yes or abstain, anchor or null]`. */
function readVote(reader: CborReader): void {
  readRecord(reader, 2, (inner) => {
    inner.readUint(2)
    readNullable(inner, readAnchor)
  })
}
