import { blockVersion, bodyOf, encodeBlockBody } from '@ratatosk/block'
import { CborWriter } from '@ratatosk/cbor'
import type { SourceBlock } from '@ratatosk/test-kit'

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
