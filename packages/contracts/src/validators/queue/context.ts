import { headerFieldIndex as Header, hashLength } from '@ratatosk/block'
import { blockPrefix, Element } from '../../layout.js'
import { datumOf, keyCredential, tokenNameOf } from '../core/context.js'
import { at, constr, fieldsOf, none } from '../core/data.js'
import * as p from '../core/term.js'

/** The parameters of the state queue's script, as data, in the blueprint's order. */
export interface QueueParameters {
  /** Bytes: asset name of the root. */
  readonly rootName: p.Data
  /** `Credential` of the administrator: a verification key or a script. */
  readonly administrator: p.Data
  /** Integer: milliseconds from the end of a block until it may be merged. */
  readonly maturityWindow: p.Data
  /** Bytes: policy of the operator registry, under which one token exists. */
  readonly registryPolicy: p.Data
  /** Integer: length of an operator's turn in milliseconds. */
  readonly turnLength: p.Data
  /** Integer: milliseconds from the end of the last block until any operator may commit. */
  readonly takeOverAfter: p.Data
  /** Integer: the version that every block's header states. */
  readonly blockVersion: p.Data
  /** List of bytes: the policies whose tokens are verdicts. */
  readonly verdictPolicies: p.Data
  /** Bytes: hash of the bridge's script; empty without a bridge. */
  readonly bridge: p.Data
}

/** The facts that the rules of every queue action read. */
export interface QueueContext {
  readonly parameters: QueueParameters
  /** The fields of `TxInfo`. */
  readonly transaction: p.List
  /** Bytes: the script's own hash. */
  readonly policy: p.Data
  /** The quantities minted and burned under `policy`, as a value of that policy alone. */
  readonly minted: p.Data
  /** The outputs spent at the script's payment credential, with any staking part. */
  readonly spent: p.List
}

export const blockName = (headerHash: p.Bytes): p.Bytes =>
  p.appendByteString(p.bytes(blockPrefix), headerHash)

/** The header hash in the name of a block's token. */
export const hashInName = (name: p.Bytes): p.Bytes =>
  p.sliceByteString(p.integer(blockPrefix.length), p.integer(hashLength), name)

export const isRoot = (element: p.Data, rootName: p.Data): p.Bool =>
  p.equalsByteString(tokenNameOf(element), p.unBData(rootName))

/** The address to which a block's ada returns: of its operator's key. @param header its fields */
export const refundAddress = p.define(
  (header: p.List): p.Data => constr(0, keyCredential(at(header, Header.operatorVkey)), none()),
)

export const elementDatum = (content: p.Data, link: p.Data): p.Data => constr(0, content, link)
export const contentOf = (element: p.Data): p.Data => at(fieldsOf(datumOf(element)), Element.content)
export const linkOf = (element: p.Data): p.Data => at(fieldsOf(datumOf(element)), Element.link)
