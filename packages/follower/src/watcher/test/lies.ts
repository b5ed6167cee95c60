import { type Header, headerHash } from '@ratatosk/block'
import { concatBytes, toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import { freeMap, leafAt, nodeOf } from '../../../../protocol/dist/fraud/test/free-map.js'
import { blockOf, type Committed, type Story } from '../../../../protocol/dist/fraud/test/lying-blocks.js'
import { eight } from '../../../../protocol/dist/fraud/test/theft.js'
import type { InvalidBlock } from '../../index.js'

export { largeLie, ofLie } from '../../../../protocol/dist/fraud/test/lies/index.js'

export const honest = ({ transactions }: Story): Committed => blockOf(transactions)

/** Has the first records of a map of transactions say that fees are higher. */
export function raiseFees(map: Map<string, Uint8Array>, records: number): void {
  for (let position = 0; position < records; position++) {
    const key = toHex(eight(BigInt(position)))
    const record = map.get(key)!
    const fees = Buffer.from(record).readBigUInt64BE(97)
    map.set(key, concatBytes(record.subarray(0, 97), eight(fees + 7n), record.subarray(105)))
  }
}

/** A block as a follower gives it to a watcher. */
export function invalidBlock(
  { roots: _, after: _after, outputs: _outputs, ...block }: Committed,
  header: Header,
): InvalidBlock {
  const error = Object.assign(new Error('It breaks a rule'), { code: 'BLOCK_INVALID', position: 0 })
  return {
    ...block,
    headerHash: headerHash(header),
    height: 1n,
    header,
    error: error as unknown as InvalidBlock['error'],
    outputBefore: (key) => block.outputBefore?.(key),
  }
}

/** A map of two entries, of which the answer to one question shows all. */
export const mapOfTwo = () =>
  freeMap(nodeOf([0, 1].map((number) => leafAt(blake2b256(Uint8Array.of(number))))))
