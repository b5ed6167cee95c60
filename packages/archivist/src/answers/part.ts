import type { ArchivedBlock } from '../archive.js'

/** What of a block is asked for. */
export interface PartOfBlock {
  readonly header: boolean
  readonly body: boolean
}

export const whole: PartOfBlock = { header: true, body: true }
export const headerOnly: PartOfBlock = { header: true, body: false }
export const bodyOnly: PartOfBlock = { header: false, body: true }

/** The bytes of a block's body, in pieces. */
export type ReadBody = (headerHash: Uint8Array) => AsyncIterable<Uint8Array>

/** One of the two formats. Pieces of an answer come out of it one after another, so that no body is in memory whole. */
export interface AnswerFormat {
  readonly contentType: string
  /** Stands behind the hash in an entity tag: the formats' bytes are not the same. */
  readonly tagSuffix: string
  block(block: ArchivedBlock, part: PartOfBlock, body: ReadBody): AsyncIterable<Uint8Array | string>
  blocks(blocks: readonly ArchivedBlock[], body: ReadBody): AsyncIterable<Uint8Array | string>
}
