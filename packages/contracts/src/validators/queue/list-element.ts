import { hashLength } from '@ratatosk/block'
import { blockPrefix, Element } from '../../layout.js'
import {
  appendByteString,
  bytes,
  equalsByteString,
  integer,
  sliceByteString,
  unBData,
} from '../core/builtins.js'
import { datumOf, tokenNameOf } from '../core/context.js'
import { at, constr, fieldsOf } from '../core/data.js'
import type { Bool, Bytes, Data } from '../core/term.js'

export const blockName = (headerHash: Bytes): Bytes => appendByteString(bytes(blockPrefix), headerHash)

/** The header hash in the name of a block's token. */
export const hashInName = (name: Bytes): Bytes =>
  sliceByteString(integer(blockPrefix.length), integer(hashLength), name)

export const isRoot = (element: Data, rootName: Data): Bool =>
  equalsByteString(tokenNameOf(element), unBData(rootName))

export const elementDatum = (content: Data, link: Data): Data => constr(0, content, link)
export const contentOf = (element: Data): Data => at(fieldsOf(datumOf(element)), Element.content)
export const linkOf = (element: Data): Data => at(fieldsOf(datumOf(element)), Element.link)
