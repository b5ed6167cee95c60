import { type ArchivedBlock, type BodyPart, decodeHeader, partsOfBody } from '@ratatosk/block'
import { CborWriter, toHex } from '@ratatosk/cbor'
import type { HeaderFields } from './schemas.js'

/** The parts of a block that a request asks for. */
export interface PartOfBlock {
  readonly header: boolean
  readonly body: boolean
}

export const whole: PartOfBlock = { header: true, body: true }
export const headerOnly: PartOfBlock = { header: true, body: false }
export const bodyOnly: PartOfBlock = { header: false, body: true }

/** Reads a block's body in chunks of canonical CBOR. */
export type ReadBodyChunks = (headerHash: Uint8Array) => AsyncIterable<Uint8Array>

/** A response format. It yields a response in chunks, so that no body is in memory whole. */
interface AnswerFormat {
  readonly contentType: string
  /** Suffix of the entity tag, because the formats differ in their bytes (RFC 9110, section 8.8.3). */
  readonly tagSuffix: string
  block(block: ArchivedBlock, part: PartOfBlock, body: ReadBodyChunks): AsyncIterable<Uint8Array | string>
  blocks(blocks: readonly ArchivedBlock[], body: ReadBodyChunks): AsyncIterable<Uint8Array | string>
}

const json: AnswerFormat = {
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

const cbor: AnswerFormat = {
  contentType: 'application/cbor',
  tagSuffix: '.cbor',
  block: blockCbor,
  async *blocks(blocks, body) {
    yield new CborWriter().map(1).text('blocks').array(blocks.length).toBytes()
    for (const block of blocks) yield* blockCbor(block, whole, body)
  },
}

/**
 * CBOR if `Accept` names it with a higher quality than JSON and at least that of a wildcard, otherwise JSON.
 * A named type takes precedence over a wildcard (RFC 9110, section 12.5.1).
 */
export function formatFor(accept: string | undefined): AnswerFormat {
  const quality = new Map<string, number>()
  for (const range of accept?.split(',') ?? []) {
    const [type = '', ...parameters] = range.split(';').map((text) => text.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    quality.set(type, weight === undefined ? 1 : Number(weight.slice(2)) || 0)
  }
  const asked = quality.get('application/cbor') ?? 0
  const other = quality.get('application/json') ?? 0
  const any = Math.max(quality.get('application/*') ?? 0, quality.get('*/*') ?? 0)
  return asked > other && asked >= any ? cbor : json
}

async function* blockJson(
  block: ArchivedBlock,
  part: PartOfBlock,
  body: ReadBodyChunks,
): AsyncGenerator<string, void> {
  yield `{"hash":"${toHex(block.headerHash)}","height":${block.height}`
  if (part.header) yield `,"header":${JSON.stringify(headerFields(block.header))}`
  if (part.body) {
    yield ',"body":'
    yield* bodyJson(body(block.headerHash))
  }
  yield '}'
}

function headerFields(cbor: Uint8Array): HeaderFields {
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
    protocol_version: Number(header.blockVersion),
  }
}

/** The lists in the order of the body's CBOR, and the index of the list that each kind of part belongs to. */
const lists = ['transactions', 'spent', 'produced', 'deposits'] as const
const listOf = { transaction: 0, spent: 1, produced: 2, deposit: 3 } as const

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
  yield `${text}],"withdrawals":[]}`
}

function partJson(part: BodyPart): string {
  if (part.kind === 'transaction') return `"${toHex(part.cbor)}"`
  if (part.kind === 'spent') return `"${toHex(part.outref)}"`
  if (part.kind === 'deposit') return `{"id":"${toHex(part.id)}","output":"${toHex(part.output)}"}`
  return `{"outref":"${toHex(part.outref)}","output":"${toHex(part.output)}"}`
}

/** Map keys are in the order of RFC 8949's deterministic encoding: body, hash, header, height. */
async function* blockCbor(
  { headerHash, height, header }: ArchivedBlock,
  part: PartOfBlock,
  body: ReadBodyChunks,
): AsyncGenerator<Uint8Array, void> {
  const opening = new CborWriter().map(2 + Number(part.header) + Number(part.body))
  if (part.body) {
    yield opening.text('body').toBytes()
    yield* body(headerHash)
    yield closing(new CborWriter())
  } else yield closing(opening)

  function closing(writer: CborWriter): Uint8Array {
    writer.text('hash').bytes(headerHash)
    if (part.header) writer.text('header').bytes(header)
    return writer.text('height').uint(height).toBytes()
  }
}
