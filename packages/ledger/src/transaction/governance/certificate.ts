import type { Credential } from '../../address/types.js'
import type { CborReader } from '../../cbor/reader.js'
import { readNullable, readVariant } from '../../cbor/structure.js'
import type { Certificate } from '../types.js'
import { readPoolParameters } from './pool.js'
import { readAnchor, readCredential, readDrep, readHash28 } from './primitives.js'

/** `witness`: a credential that must sign; `credential`: one that need not. */
type Item =
  | 'witness'
  | 'credential'
  | 'operator'
  | 'pool'
  | 'drep'
  | 'deposit'
  | 'refund'
  | 'anchor'
  | 'epoch'

/** The CDDL's names, and what follows the number. 5 and 6, for genesis keys, ended with Babbage. */
const layouts = new Map<number, readonly [kind: string, ...items: readonly Item[]]>([
  [0, ['stake_registration', 'credential']],
  [1, ['stake_deregistration', 'witness']],
  [2, ['stake_delegation', 'witness', 'pool']],
  [4, ['pool_retirement', 'operator', 'epoch']],
  [7, ['reg_cert', 'witness', 'deposit']],
  [8, ['unreg_cert', 'witness', 'refund']],
  [9, ['vote_deleg_cert', 'witness', 'drep']],
  [10, ['stake_vote_deleg_cert', 'witness', 'pool', 'drep']],
  [11, ['stake_reg_deleg_cert', 'witness', 'pool', 'deposit']],
  [12, ['vote_reg_deleg_cert', 'witness', 'drep', 'deposit']],
  [13, ['stake_vote_reg_deleg_cert', 'witness', 'pool', 'drep', 'deposit']],
  [14, ['auth_committee_hot_cert', 'witness', 'credential']],
  [15, ['resign_committee_cold_cert', 'witness', 'anchor']],
  [16, ['reg_drep_cert', 'witness', 'deposit', 'anchor']],
  [17, ['unreg_drep_cert', 'witness', 'refund']],
  [18, ['update_drep_cert', 'witness', 'anchor']],
])
const POOL_REGISTRATION = 3

/** A certificate of the Conway era. */
export function readCertificate(reader: CborReader): Certificate {
  const start = reader.position
  const fields = readVariant(reader, readFields)
  return { ...fields, bytes: reader.since(start) }
}

type Fields = Omit<Certificate, 'bytes'>

function readFields(reader: CborReader, variant: number): readonly [size: number, fields: Fields] {
  if (variant === POOL_REGISTRATION) {
    const { operator, owners } = readPoolParameters(reader)
    return [10, { kind: 'pool_registration', witness: { kind: 'key', hash: operator }, owners }]
  }
  const layout = layouts.get(variant)
  if (layout === undefined) throw reader.error('unknown-variant', `a certificate of kind ${variant}`)
  const [kind, ...items] = layout
  let witness: Credential | undefined
  let deposit: bigint | undefined
  for (const item of items) {
    if (item === 'witness') witness = readCredential(reader)
    else if (item === 'operator') witness = { kind: 'key', hash: readHash28(reader) }
    else if (item === 'credential') readCredential(reader)
    else if (item === 'pool') readHash28(reader)
    else if (item === 'drep') readDrep(reader)
    else if (item === 'deposit') deposit = reader.readUint64()
    else if (item === 'refund') deposit = -reader.readUint64()
    else if (item === 'anchor') readNullable(reader, readAnchor)
    else reader.readUint64()
  }
  return [
    1 + items.length,
    { kind, ...(witness === undefined ? {} : { witness }), ...(deposit === undefined ? {} : { deposit }) },
  ]
}
