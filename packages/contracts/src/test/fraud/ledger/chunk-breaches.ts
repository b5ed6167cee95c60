import { chunkKey, encodeChunkRecord } from '@ratatosk/block'
import { fromHex } from '@ratatosk/cbor'
import { type LedgerFraudProof, openChunk, openRecord } from '@ratatosk/fraud'
import { honestBlock as honest } from '../blocks.js'
import type { PolicyBreach } from '../without-rules.js'
import { annotatedBlock, annotatedTo, longBlock } from './chunk-lies.js'
import {
  countsDiffer,
  inventedTransaction,
  malformed,
  misplaced,
  missing,
  nextElsewhere,
  ofFlaw,
  otherTransaction,
  shown,
  strangeRest,
  tooLong,
  tooShort,
  transactionsLeft,
  wrongLength,
} from './chunk-statements.js'

const of = (
  rule: string,
  what: string,
  proof: LedgerFraudProof | ((block: typeof honest) => LedgerFraudProof),
  block = honest,
): PolicyBreach<LedgerFraudProof> => ({
  rule,
  what,
  block,
  proof: typeof proof === 'function' ? proof(block) : proof,
})

const invented = encodeChunkRecord({ first: 1, chunks: 1, chunkHash: new Uint8Array(32) })

/** Proofs about the lengths and chunks of honest blocks. */
export const chunkBreaches: readonly PolicyBreach<LedgerFraudProof>[] = [
  of('witness-set-is-recorded', 'the witness set is another', {
    fraud: 'wrongLength',
    part: { record: openRecord(honest, 0), witnessSet: fromHex('a10080') },
  }),
  of('length-is-wrong', 'the body has the length', wrongLength('body', 1)),
  of('length-is-wrong', 'the witness set has the length', wrongLength('witness set', 1)),
  of('transaction-is-too-long', 'the transaction is short', tooLong(1)),
  of(
    'chunk-is-in-block',
    'the record of the chunk is invented',
    ofFlaw({ flaw: 'misplaced', chunk: { ...openChunk(honest, 0), record: invented } }),
  ),
  of(
    'chunk-is-recorded',
    'the bytes of the chunk are others',
    ofFlaw({ flaw: 'malformed', chunk: { ...shown(honest, 0), parts: [] } }),
  ),
  of('transaction-is-in-chunk', 'the transaction is in the next chunk', otherTransaction(0, 1), longBlock),
  of('transaction-is-in-chunk', 'the transaction is in the chunk before', otherTransaction(1, 0), longBlock),
  of('chunk-counts-differ', 'the chunks agree', countsDiffer(0, 2), longBlock),
  of('chunk-is-misplaced', 'the only chunk is the first', misplaced(0)),
  of('chunk-is-misplaced', 'the last chunk is counted', misplaced(2), longBlock),
  of(
    'chunk-is-missing',
    'the chunk is there',
    ofFlaw({
      flaw: 'missing',
      number: 0,
      absent: honest.map.proveAbsence(chunkKey(9)),
      holder: openChunk(honest, 0),
    }),
  ),
  of('chunk-is-due', 'the chunk is not counted', missing(1, 0)),
  of('chunk-is-due', 'the chunk is not the first', missing(1)),
  of('chunk-is-next', 'the chunk is the one after the next', nextElsewhere(0, 2), longBlock),
  of('next-chunk-begins-elsewhere', 'the next chunk follows', nextElsewhere(0), longBlock),
  of('chunk-is-last', 'the transaction is in the next chunk', transactionsLeft(0, 1), longBlock),
  of('transaction-is-behind-chunk', 'the transaction is in the chunk', transactionsLeft(0, 2)),
  of('transaction-is-behind-chunk', 'the transaction that fits is in the chunk', tooShort(0, 0)),
  of('position-is-missing', 'the transaction of the chunk is there', inventedTransaction(0, 0, 8)),
  of('position-is-in-chunk', 'the chunk ends before', inventedTransaction(0, 3)),
  of('transaction-is-another', 'the transaction is that of the record', otherTransaction(0, 1)),
  of('rest-does-not-follow', 'there are no auxiliary data', strangeRest(0, 1)),
  of('rest-does-not-follow', 'the auxiliary data are right', strangeRest(1, 0), annotatedBlock),
  of('chunk-is-malformed', 'the chunk has three transactions', malformed(0)),
  of('chunk-is-malformed', 'one transaction is longer than a chunk', malformed(1), annotatedBlock),
  of('chunk-is-malformed', 'one transaction has 16,384 bytes', malformed(1), annotatedTo(16_384)),
  of('rest-follows', 'the auxiliary data are left out', tooShort(0, 1, fromHex('f5f6')), annotatedBlock),
  of('chunk-has-room', 'both transactions are longer', tooShort(0, 1), longBlock),
]
