import { type Archive, blockVersion, bodyOf, encodeBlockBody } from '@ratatosk/block'
import { CborWriter } from '@ratatosk/cbor'
import { type SourceBlock, SourceChain } from '@ratatosk/test-kit'
import fastify from 'fastify'
import type { Test } from 'tap'
import archivist, { archiveOfBlocks } from '../index.js'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

export function jsonOf({ fields, headerHash, height, cbors }: SourceBlock) {
  const { spent, produced } = bodyOf(cbors)
  return {
    identity: { hash: hex(headerHash), height: Number(height) },
    header: {
      prev_utxos_root: hex(fields.prevUtxosRoot),
      utxos_root: hex(fields.utxosRoot),
      transactions_root: hex(fields.transactionsRoot),
      deposits_root: '00'.repeat(32),
      withdrawals_root: '00'.repeat(32),
      start_time: Number(fields.startTime),
      end_time: Number(fields.endTime),
      prev_header_hash: hex(fields.prevHeaderHash),
      operator_vkey: hex(fields.operatorVkey),
      protocol_version: Number(blockVersion),
    },
    body: {
      transactions: cbors.map(hex),
      spent: spent.map(hex),
      produced: produced.map(({ outref, output }) => ({ outref: hex(outref), output: hex(output) })),
      deposits: [],
      withdrawals: [],
    },
  }
}

/** The expected CBOR of a block, with keys in deterministic order. */
export function cborOf(
  { headerHash, header, height, cbors }: SourceBlock,
  parts: { readonly header: boolean; readonly body: boolean },
): Buffer {
  const writer = new CborWriter().map(2 + Number(parts.header) + Number(parts.body))
  if (parts.body) writer.text('body').raw(encodeBlockBody(bodyOf(cbors)))
  writer.text('hash').bytes(headerHash)
  if (parts.header) writer.text('header').bytes(header)
  return Buffer.from(writer.text('height').uint(height).toBytes())
}

interface ErrorLine {
  level: number
  msg: string
  reqId?: string
  err?: { message: string }
}

/** A chain with this many blocks, which have 0, 1, 2 … transactions. */
export async function chainOf(blocks: number): Promise<SourceChain> {
  const chain = new SourceChain(3)
  for (let n = 0; n < blocks; n++) await chain.commit(n)
  return chain
}

/** A server with only the plugin. The default archive has three blocks, the first of them merged. */
export async function build(
  t: Test,
  given?: Archive,
  options: { maxReads?: number; stallTimeoutMs?: number } = {},
) {
  const chain = await chainOf(3)
  chain.merge(1)
  const archive = given ?? archiveOfBlocks(chain)
  const log: ErrorLine[] = []
  const server = fastify({
    logger: { level: 'info', stream: { write: (line: string) => void log.push(JSON.parse(line)) } },
  })
  t.teardown(() => server.close())
  await server.register(archivist, { archive, ...options })
  return { server, chain, log }
}
