import { toHex } from '../../bytes.js'
import type { CborReader } from '../../cbor/reader.js'
import { readMapOf, readNullable, readRecord, readSet, readVariant } from '../../cbor/structure.js'
import type { ProposalProcedure } from '../types.js'
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

/** The last protocol version that a hard fork may ask for, as far as this decoder knows. */
const MAX_MAJOR_VERSION = 12

/** `[deposit, return account, action, anchor]`. The kind is the CDDL's name of the action. */
export function readProposalProcedure(reader: CborReader): ProposalProcedure {
  const start = reader.position
  const fields = readRecord(reader, 4, (inner) => {
    const deposit = inner.readUint64()
    const returnAccount = readRewardAddress(inner)
    const action = readVariant(inner, readAction)
    readAnchor(inner)
    return { ...action, deposit, returnAccount }
  })
  return { ...fields, bytes: reader.since(start) }
}

type Action = Pick<ProposalProcedure, 'kind' | 'policyHash'>

function readAction(reader: CborReader, variant: number): readonly [size: number, action: Action] {
  switch (variant) {
    case 0:
      readNullable(reader, readGovernanceActionId)
      readParameterUpdate(reader)
      return [4, { kind: 'parameter_change_action', ...readPolicy(reader) }]
    case 1:
      readNullable(reader, readGovernanceActionId)
      readRecord(reader, 2, (version) => {
        version.readUint(MAX_MAJOR_VERSION)
        version.readUint(0xffff_ffff)
      })
      return [3, { kind: 'hard_fork_initiation_action' }]
    case 2:
      readMapOf(
        reader,
        (account) => toHex(readRewardAddress(account).bytes),
        (lovelace) => lovelace.readUint64(),
      )
      return [3, { kind: 'treasury_withdrawals_action', ...readPolicy(reader) }]
    case 3:
      readNullable(reader, readGovernanceActionId)
      return [2, { kind: 'no_confidence' }]
    case 4:
      readNullable(reader, readGovernanceActionId)
      readSet(reader, readCredential, credentialKey)
      readMapOf(
        reader,
        (member) => credentialKey(readCredential(member)),
        (epoch) => epoch.readUint64(),
      )
      readUnitInterval(reader)
      return [5, { kind: 'update_committee' }]
    case 5:
      readNullable(reader, readGovernanceActionId)
      readRecord(reader, 2, (constitution) => {
        readAnchor(constitution)
        readNullable(constitution, readHash28)
      })
      return [3, { kind: 'new_constitution' }]
    case 6:
      return [1, { kind: 'info_action' }]
    default:
      throw reader.error('unknown-variant', `a governance action of kind ${variant}`)
  }
}

/** The guardrails script, or null. */
function readPolicy(reader: CborReader): { readonly policyHash?: Uint8Array } {
  const policyHash = readNullable(reader, readHash28)
  return policyHash === undefined ? {} : { policyHash }
}
