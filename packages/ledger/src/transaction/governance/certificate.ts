import {
  type CborReader,
  readList,
  readNullable,
  readRecord,
  readSet,
  readVariant,
  toHex,
  type Variants,
} from '@ratatosk/cbor'
import type { Credential } from '../../address/types.js'
import type { Certificate } from '../types.js'
import {
  readAnchor,
  readCredential,
  readDrep,
  readHash28,
  readRewardAddress,
  readShortText,
  readUnitInterval,
} from './primitives.js'

/** `witness` is a credential that must authorize the certificate; `credential` is any other. */
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

type Fields = Omit<Certificate, 'bytes'>

/** The names in the CDDL, and the items after the number. Conway removed 5 and 6, for genesis keys. */
const variants: Variants<Fields> = [
  layout('stake_registration', 'credential'),
  layout('stake_deregistration', 'witness'),
  layout('stake_delegation', 'witness', 'pool'),
  [10, readPoolRegistration],
  layout('pool_retirement', 'operator', 'epoch'),
  undefined,
  undefined,
  layout('reg_cert', 'witness', 'deposit'),
  layout('unreg_cert', 'witness', 'refund'),
  layout('vote_deleg_cert', 'witness', 'drep'),
  layout('stake_vote_deleg_cert', 'witness', 'pool', 'drep'),
  layout('stake_reg_deleg_cert', 'witness', 'pool', 'deposit'),
  layout('vote_reg_deleg_cert', 'witness', 'drep', 'deposit'),
  layout('stake_vote_reg_deleg_cert', 'witness', 'pool', 'drep', 'deposit'),
  layout('auth_committee_hot_cert', 'witness', 'credential'),
  layout('resign_committee_cold_cert', 'witness', 'anchor'),
  layout('reg_drep_cert', 'witness', 'deposit', 'anchor'),
  layout('unreg_drep_cert', 'witness', 'refund'),
  layout('update_drep_cert', 'witness', 'anchor'),
]

/** Decodes a certificate of the Conway era. */
export function readCertificate(reader: CborReader): Certificate {
  const start = reader.position
  const fields = readVariant(reader, 'a certificate', variants)
  return { ...fields, bytes: reader.since(start) }
}

function layout(kind: string, ...items: readonly Item[]): readonly [number, (reader: CborReader) => Fields] {
  return [1 + items.length, (reader) => readItems(reader, kind, items)]
}

function readItems(reader: CborReader, kind: string, items: readonly Item[]): Fields {
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
  return {
    kind,
    ...(witness === undefined ? {} : { witness }),
    ...(deposit === undefined ? {} : { deposit }),
  }
}

function readPoolRegistration(reader: CborReader): Fields {
  const { operator, owners } = readPoolParameters(reader)
  return { kind: 'pool_registration', witness: { kind: 'key', hash: operator }, owners }
}

/** Decodes the nine items of pool parameters in a pool registration. */
function readPoolParameters(reader: CborReader): {
  readonly operator: Uint8Array
  readonly owners: readonly Uint8Array[]
} {
  const operator = readHash28(reader)
  reader.readBytesOf(32) // VRF key hash
  reader.readUint64() // pledge
  reader.readUint64() // cost
  readUnitInterval(reader) // margin
  readRewardAddress(reader)
  const owners = readSet(reader, readHash28, toHex)
  readList(reader, readRelay)
  readNullable(reader, readPoolMetadata)
  return { operator, owners }
}

const relayVariants: Variants<void> = [
  [
    4,
    (reader) => {
      readNullable(reader, readPort)
      readNullable(reader, (address) => address.readBytesOf(4))
      readNullable(reader, (address) => address.readBytesOf(16))
    },
  ],
  [
    3,
    (reader) => {
      readNullable(reader, readPort)
      readShortText(reader)
    },
  ],
  [2, readShortText],
]

function readRelay(reader: CborReader): void {
  readVariant(reader, 'a relay', relayVariants)
}

function readPort(reader: CborReader): number {
  return reader.readUint(0xffff)
}

/** The POOL rule, not the decoder, checks the length of the hash. */
function readPoolMetadata(reader: CborReader): void {
  readRecord(reader, 2, (inner) => {
    readShortText(inner)
    inner.readBytes()
  })
}
