import { decodeHeader } from '@ratatosk/contracts'
import { toHex } from '@ratatosk/ledger'
import type { ArchivedBlock } from '../archive.js'
import { partsOfBody } from '../body/decode.js'
import type { BodyPart } from '../body/types.js'
import { type AnswerFormat, type PartOfBlock, type ReadBody, whole } from './part.js'
import type { HeaderFields } from './schemas.js'

export const json: AnswerFormat = {
  contentType: 'application/json; charset=utf-8',
  tagSuffix: '',
  block: blockJson,
  async *blocks(blocks, body) {
    let separator = '{"blocks":['
    for (const block of blocks) {
      yield separator
      yield* blockJson(block, whole, body)
      separator = ','
    }
    yield blocks.length === 0 ? '{"blocks":[]}' : ']}'
  },
}

/** The ten fields of a header as JSON shows them. */
export function headerFields(cbor: Uint8Array): HeaderFields {
  const header = decodeHeader(cbor)
  return {
    prev_utxos_root: toHex(header.prevUtxosRoot),
    utxos_root: toHex(header.utxosRoot),
    transactions_root: toHex(header.transactionsRoot),
    deposits_root: toHex(header.depositsRoot),
    withdrawals_root: toHex(header.withdrawalsRoot),
    start_time: Number(header.startTime),
    end_time: Number(header.endTime),
    prev_header_hash: toHex(header.prevHeaderHash),
    operator_vkey: toHex(header.operatorVkey),
    protocol_version: Number(header.protocolVersion),
  }
}

async function* blockJson(
  block: ArchivedBlock,
  part: PartOfBlock,
  body: ReadBody,
): AsyncGenerator<string, void> {
  yield `{"hash":"${toHex(block.headerHash)}","height":${block.height}`
  if (part.header) yield `,"header":${JSON.stringify(headerFields(block.header))}`
  if (part.body) {
    yield ',"body":'
    yield* bodyJson(body(block.headerHash))
  }
  yield '}'
}

/** The lists in the order in which their parts come, and in which each kind of part is. */
const lists = ['transactions', 'spent', 'produced'] as const
const listOf = { transaction: 0, spent: 1, produced: 2 } as const

async function* bodyJson(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let open = 0
  let text = `{"${lists[0]}":[`
  let separator = ''
  const openUntil = (list: number): void => {
    while (open < list) {
      text += `],"${lists[++open]}":[`
      separator = ''
    }
  }
  for await (const parts of partsOfBody(pieces, Number.POSITIVE_INFINITY)) {
    for (const part of parts) {
      openUntil(listOf[part.kind])
      text += separator + partJson(part)
      separator = ','
    }
    yield text
    text = ''
  }
  openUntil(lists.length - 1)
  yield `${text}],"deposits":[],"withdrawals":[]}`
}

function partJson(part: BodyPart): string {
  if (part.kind === 'transaction') return `"${toHex(part.cbor)}"`
  if (part.kind === 'spent') return `"${toHex(part.outref)}"`
  return `{"outref":"${toHex(part.outref)}","output":"${toHex(part.output)}"}`
}
