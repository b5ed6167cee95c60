import { headerFieldIndex as Header, hashLength } from '@ratatosk/block'
import { blockPrefix, Element } from '../../layout.js'
import {
  appendByteString,
  bytes,
  equalsByteString,
  integer,
  sliceByteString,
  unBData,
} from '../core/builtins.js'
import { datumOf, keyCredential, tokenNameOf } from '../core/context.js'
import { at, constr, fieldsOf, none } from '../core/data.js'
import { type Bool, type Bytes, type Data, define, type List } from '../core/term.js'

/** The parameters of the state queue's script, as data, in the blueprint's order. */
export interface QueueParameters {
  /** Bytes: asset name of the root. */
  readonly rootName: Data
  /** `Credential` of the administrator: a verification key or a script. */
  readonly administrator: Data
  /** Integer: milliseconds from the end of a block until it may be merged. */
  readonly maturityWindow: Data
  /** Bytes: policy of the operator registry, under which one token exists. */
  readonly registryPolicy: Data
  /** Integer: length of an operator's turn in milliseconds. */
  readonly turnLength: Data
  /** Integer: milliseconds from the end of the last block until any operator may commit. */
  readonly takeOverAfter: Data
  /** Integer: the version that every block's header states. */
  readonly blockVersion: Data
  /** List of bytes: the policies whose tokens are verdicts. */
  readonly verdictPolicies: Data
  /** Bytes: hash of the bridge's script; empty without a bridge. */
  readonly bridge: Data
}

/** The facts that the rules of every queue action read. */
export interface QueueContext {
  readonly parameters: QueueParameters
  /** The fields of `TxInfo`. */
  readonly transaction: List
  /** Bytes: the script's own hash. */
  readonly policy: Data
  /** The quantities minted and burned under `policy`, as a value of that policy alone. */
  readonly minted: Data
  /** The outputs spent at the script's payment credential, with any staking part. */
  readonly spent: List
}

export const blockName = (headerHash: Bytes): Bytes => appendByteString(bytes(blockPrefix), headerHash)

/** The header hash in the name of a block's token. */
export const hashInName = (name: Bytes): Bytes =>
  sliceByteString(integer(blockPrefix.length), integer(hashLength), name)

export const isRoot = (element: Data, rootName: Data): Bool =>
  equalsByteString(tokenNameOf(element), unBData(rootName))

/** The address to which a block's ada returns: of its operator's key. @param header its fields */
export const refundAddress = define(
  (header: List): Data => constr(0, keyCredential(at(header, Header.operatorVkey)), none()),
)

export const elementDatum = (content: Data, link: Data): Data => constr(0, content, link)
export const contentOf = (element: Data): Data => at(fieldsOf(datumOf(element)), Element.content)
export const linkOf = (element: Data): Data => at(fieldsOf(datumOf(element)), Element.link)
